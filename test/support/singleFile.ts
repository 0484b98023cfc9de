export { deleteFile, putFile } from "../../src/testing/remote/RemoteSingleFile.js"
