// Commands about the prompt and its layout.

import * as vscode from 'vscode';

import type { Strata } from '../client';
import type { Format, PolicyName } from '../protocol';
import { inform, pick } from '../shown';
import type { Choice } from '../shown';
import { exactly, tokens } from '../wording';
import type { Preview } from '../preview';
import type { Actions } from './register';

export function promptActions(strata: Strata, preview: Preview): Actions {
  return {
    'strata.preview': () => preview.show(),
    'strata.copyPrompt': () => copyPrompt(strata),
    'strata.rebuildTiers': () => rebuild(strata),
    'strata.toggleAuto': async () => {
      const { message } = await strata.tell('strata.context.auto', {});
      void inform(message);
    },
    'strata.explainBreak': async () => {
      const { sentence } = await strata.ask('strata.tiers.explainBreak', {});
      void inform(sentence);
    },
    'strata.choosePolicy': () => choosePolicy(strata),
  };
}

async function copyPrompt(strata: Strata): Promise<void> {
  const formats: (Choice & { format: Format })[] = [
    { label: 'Anthropic', description: 'Messages API, JSON', format: 'anthropic' },
    { label: 'OpenAI', description: 'Chat Completions, JSON', format: 'openai' },
    { label: 'Markdown', description: 'to read or paste', format: 'markdown' },
  ];
  const chosen = await pick('Copy the prompt as', formats);
  if (chosen === undefined) {
    return;
  }
  const prompt = await vscode.window.showInputBox({ title: 'Copy the prompt', prompt: 'What do you want to ask?' });
  if (prompt === undefined || prompt === '') {
    return;
  }
  const made = await strata.ask('strata.prompt.assemble', { prompt, format: chosen.format, dryRun: true });
  const text = typeof made.body === 'string' ? made.body : JSON.stringify(made.body, null, 2);
  await vscode.env.clipboard.writeText(text);
  const left = made.shed.length > 0 ? ` Left out because they did not fit: ${made.shed.join(', ')}.` : '';
  void inform(`Prompt copied: ${exactly(made.tokens.total)} tokens.${left}`);
}

async function rebuild(strata: Strata): Promise<void> {
  const { predicted } = await strata.tell('strata.tiers.rebuild', {});
  const cost = predicted && ` It will write ${tokens(predicted.written)} tokens to the cache.`;
  void inform(`The next prompt will be rebuilt.${cost ?? ''}`);
}

async function choosePolicy(strata: Strata): Promise<void> {
  const now = await strata.ask('strata.tiers.policy', {});
  const policies: (Choice & { policy: PolicyName | null })[] = [
    { label: 'ledger', description: 'append-only log that leaves cached text unchanged', policy: 'ledger' },
    { label: 'ripple', description: 'cached tiers through which stable files move up', policy: 'ripple' },
    { label: 'flat', description: 'no cached tiers', policy: 'flat' },
    { label: 'as set', description: `from strata.cache.policy, or the model's default: ${now.modelDefault}`, policy: null },
  ];
  const chosen = await pick(`Cache policy (current: ${now.policy})`, policies);
  if (chosen !== undefined) {
    await strata.tell('strata.tiers.policy', { policy: chosen.policy });
  }
}
