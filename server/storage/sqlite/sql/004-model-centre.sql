-- The mean of the vectors of unrelated texts, in base64 as they are stored. Its cosine with a question
-- tells which cosines the question has with unrelated texts. Null if the column mean is used instead.
ALTER TABLE models ADD COLUMN centre TEXT;
