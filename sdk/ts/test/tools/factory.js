// A factory that fails.
export default async (pi) => {
  await null;
  return [pi.tools.first];
};
