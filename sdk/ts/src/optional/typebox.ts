import * as typebox from "../typebox.js";

import { provideTypeBox } from "../guest/api.js";

provideTypeBox(typebox);
