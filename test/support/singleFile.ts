export { deleteFile, putFile } from "../../src/testing/RemoteSingleFile.js"
