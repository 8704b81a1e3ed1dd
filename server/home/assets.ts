import icon from './favicon.ico' with { type: 'file' };
import script from './home.client.js' with { type: 'text' };
import home from './home.css' with { type: 'text' };
import theme from './theme.css' with { type: 'text' };

export { script };

export const style = theme + home;

export const favicon = await Bun.file(icon).bytes();
