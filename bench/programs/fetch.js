// The least that anyone does who talks to the Messages API: fetch, split the stream into lines, parse the JSON.

export async function ask(prompt) {
  const response = await fetch(`${process.env.ANTHROPIC_BASE_URL}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': process.env.ANTHROPIC_API_KEY },
    body: JSON.stringify({
      model: 'claude-sonnet-4-5',
      max_tokens: 1024,
      stream: true,
      messages: [{ role: 'user', content: prompt }],
    }),
  });
  const decoder = new TextDecoder();
  let rest = '';
  let text = '';
  let deltas = 0;
  for await (const chunk of response.body) {
    rest += decoder.decode(chunk, { stream: true });
    const lines = rest.split('\n');
    rest = lines.pop();
    for (const line of lines) {
      if (!line.startsWith('data: ')) continue;
      const event = JSON.parse(line.slice(6));
      if (event.type !== 'content_block_delta') continue;
      deltas += 1;
      text += event.delta.text;
    }
  }
  return { text, deltas };
}
