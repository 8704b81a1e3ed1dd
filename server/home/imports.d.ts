declare module '*.css' {
  const text: string;
  export default text;
}

declare module '*.client.js' {
  const text: string;
  export default text;
}

declare module '*.ico' {
  const path: string;
  export default path;
}
