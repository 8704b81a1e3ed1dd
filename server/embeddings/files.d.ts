declare module '*.wasm' {
  const path: string;
  export default path;
}
declare module '*.safetensors' {
  const path: string;
  export default path;
}
declare module '*/vocab.txt' {
  const path: string;
  export default path;
}
