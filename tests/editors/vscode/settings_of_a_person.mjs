// Stands in for the part of VS Code's API that reads settings.

/** What was set of each setting, and where. */
export const person = new Map();

export const workspace = {
  getConfiguration: () => ({
    inspect: (name) => ({ key: name, defaultValue: 'a default', ...person.get(name) }),
    get: (name) => {
      const { globalValue, workspaceValue, workspaceFolderValue } = person.get(name);
      return [workspaceFolderValue, workspaceValue, globalValue, 'a default'].find((value) => value !== undefined);
    },
  }),
};
