export const answer = () => "Answered.";
