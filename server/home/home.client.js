// The script of the front page. It shows the address in use, and copies snippets.

const page = document.querySelector('main');
const served = page.dataset.url;
const address = new URL('.', location.href).href.replace(/\/$/, '');
const announcement = document.getElementById('announcement');

for (const code of page.querySelectorAll('code')) {
  code.textContent = code.textContent.replaceAll(served, address);
}

for (const button of page.querySelectorAll('button[data-copies]')) {
  const code = document.getElementById(button.dataset.copies);
  button.hidden = false;
  button.addEventListener('click', async () => {
    const isCopied = await copy(code);
    button.textContent = isCopied ? 'Copied' : 'Press Ctrl-C';
    announcement.textContent = isCopied ? 'Copied to the clipboard' : 'Selected; press Ctrl-C';
    setTimeout(() => {
      button.textContent = 'Copy';
      announcement.textContent = '';
    }, 2_000);
  });
}

/** Over plain HTTP, only a page on the local machine may use the clipboard. */
async function copy(code) {
  getSelection().selectAllChildren(code);
  if (navigator.clipboard === undefined) return document.execCommand('copy');
  return navigator.clipboard.writeText(code.textContent).then(
    () => true,
    () => false,
  );
}
