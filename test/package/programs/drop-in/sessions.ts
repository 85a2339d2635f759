// The V2 interface: sessions that are sent to, resumed, and a prompt by itself.
import {
  unstable_v2_createSession,
  unstable_v2_prompt,
  unstable_v2_resumeSession,
  type SDKMessage,
  type SDKResultMessage,
  type SDKSession,
  type SDKSessionOptions,
} from '@anthropic-ai/claude-agent-sdk';

const options: SDKSessionOptions = {
  model: 'claude-sonnet-4-6',
  allowedTools: ['Read'],
  permissionMode: 'default',
  env: { ...process.env },
  canUseTool: async () => ({ behavior: 'deny', message: 'No.' }),
};

const textOf = (message: SDKMessage): string[] =>
  message.type === 'assistant'
    ? message.message.content.flatMap((block) => (block.type === 'text' ? [block.text] : []))
    : [];

async function read(session: SDKSession): Promise<string> {
  const texts: string[] = [];
  for await (const message of session.stream()) texts.push(...textOf(message));
  return texts.join(' ');
}

let id: string;
{
  await using session = unstable_v2_createSession(options);
  await session.send('My name is Ann.');
  console.log(await read(session));
  await session.send({
    type: 'user',
    message: { role: 'user', content: 'Who am I?' },
    parent_tool_use_id: null,
    session_id: session.sessionId,
  });
  console.log(await read(session));
  id = session.sessionId;
}

const resumed = unstable_v2_resumeSession(id, options);
await resumed.send('And again?');
console.log(await read(resumed));
console.log('same session:', resumed.sessionId === id);
resumed.close();

const result: SDKResultMessage = await unstable_v2_prompt('2 + 2?', options);
if (result.subtype === 'success') console.log(result.result);
