// A mock of the parts of VS Code's API that read settings and create messages for models.

/** Values of each setting, by scope. */
export const person = new Map();

export const workspace = {
  getConfiguration: () => ({
    inspect: (name) => ({ key: name, defaultValue: 'a default', ...person.get(name) }),
    get: (name) => {
      const { globalValue, workspaceValue, workspaceFolderValue } = person.get(name) ?? {};
      return [workspaceFolderValue, workspaceValue, globalValue, 'a default'].find((value) => value !== undefined);
    },
  }),
};

class Part {
  constructor(value) {
    this.value = value;
  }
}

export class LanguageModelTextPart extends Part {}

export class LanguageModelToolCallPart {
  constructor(callId, name, input) {
    Object.assign(this, { callId, name, input });
  }
}

export class LanguageModelToolResultPart extends Part {}

export class LanguageModelDataPart {
  constructor(data, mimeType) {
    Object.assign(this, { data, mimeType });
  }
}

export const LanguageModelChatMessage = {
  User: (content) => ({ role: 'user', content }),
  Assistant: (content) => ({ role: 'assistant', content }),
};

export class CancellationError extends Error {}

export const lm = {};
