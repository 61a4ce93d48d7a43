import * as typebox from "@sinclair/typebox";

import { provideTypeBox } from "../guest/api.js";

provideTypeBox(typebox);
