import { answer } from "native";

export default () => answer();
