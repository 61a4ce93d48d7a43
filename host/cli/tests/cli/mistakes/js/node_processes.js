import { execSync } from "node:child_process";

export default () => execSync("git status");
