ALTER TABLE models ADD COLUMN centre text;
