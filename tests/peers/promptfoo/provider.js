// Answers offline: a colour that follows from the flag and the length of the prompt; flag 7 fails.
module.exports = class {
  id() {
    return 'offline:colours';
  }

  async callApi(prompt) {
    const flag = Number(/\d+/.exec(prompt)[0]);
    if (flag === 7) return { error: 'no such flag' };
    const output = ['red', 'green', 'blue', 'I do not know'][(flag * prompt.length) % 4];
    return { output, cost: flag / 1000, tokenUsage: { prompt: 10, completion: 2, total: 12 } };
  }
};
