/* One file, because each browser costs two seconds of CPU. */
import './pages.ts';
import './screens.ts';
import './work.ts';
