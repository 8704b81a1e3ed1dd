import icon from './favicon.ico' with { type: 'file' };
import script from './home.client.js' with { type: 'text' };
import style from './home.css' with { type: 'text' };

export { script, style };

export const favicon = await Bun.file(icon).bytes();
