//! To-do lists, either managed with a tool or written as checklists in messages. Never marks an item as done
//! on its own.

use serde_json::Value;

use super::clip::one_line;

/// An item of a to-do list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Todo {
    /// The task, on one line.
    pub text: String,
    pub state: TodoState,
}

/// Progress of a task.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum TodoState {
    /// The task was started.
    InProgress,
    /// The task was not started.
    Pending,
    /// The task was finished or cancelled.
    Done,
}

impl TodoState {
    /// Parses the name that a tool uses for the state of a task; `None` if the name is unknown.
    fn from_name(name: &str) -> Option<Self> {
        match &*name.trim().to_ascii_lowercase().replace([' ', '-'], "_") {
            "in_progress" | "inprogress" | "active" | "doing" | "started" => Some(Self::InProgress),
            "pending" | "open" | "todo" | "not_started" | "blocked" => Some(Self::Pending),
            "done" | "completed" | "complete" | "finished" | "cancelled" | "canceled" => Some(Self::Done),
            _ => None,
        }
    }
}

/// Maximum characters of a task.
const MAX_TASK_CHARS: usize = 240;
/// Maximum number of tasks in a list.
const MAX_TASKS: usize = 200;

/// The current to-do list. A task that was created with a tool has an id.
#[derive(Default)]
pub(super) struct Todos {
    list: Vec<(Option<String>, Todo)>,
}

impl Todos {
    /// Reads a tool call that replaces the list, adds a task, or updates one.
    pub(super) fn read_call(&mut self, call_id: &str, name: &str, input: &Value) -> TodoToolEffect {
        if let Some(list) = parse_todo_list(input) {
            self.list = list.into_iter().map(|todo| (None, todo)).collect();
            return TodoToolEffect::List;
        }
        let name = name.to_ascii_lowercase().replace('_', "");
        if !name.ends_with("taskcreate") && !name.ends_with("taskupdate") {
            return TodoToolEffect::None;
        }
        let text = |key: &str| input.get(key).and_then(Value::as_str);
        if name.ends_with("taskcreate") {
            if let Some(subject) = text("subject").or_else(|| text("description")) {
                self.clear_finished_list();
                let todo = Todo { text: one_line(subject, MAX_TASK_CHARS), state: TodoState::Pending };
                self.push(Some(format!("call {call_id}")), todo);
            }
            return TodoToolEffect::Create;
        }
        let id = text("taskId").or_else(|| text("task_id")).map(str::to_owned);
        let Some(at) = self.list.iter().position(|(known, _)| known.is_some() && *known == id) else {
            return TodoToolEffect::List;
        };
        match text("status") {
            Some("deleted") => drop(self.list.remove(at)),
            status => {
                let (_, todo) = &mut self.list[at];
                todo.state = status.and_then(TodoState::from_name).unwrap_or(todo.state);
                if let Some(subject) = text("subject") {
                    todo.text = one_line(subject, MAX_TASK_CHARS);
                }
            }
        }
        TodoToolEffect::List
    }

    /// Reads the number of a new task from the result of the call that created it: `Task #3 created`.
    pub(super) fn read_task_number(&mut self, call_id: &str, result: &str) {
        let Some((_, rest)) = result.split_once('#') else { return };
        let number: String = rest.chars().take_while(char::is_ascii_digit).take(9).collect();
        let waiting = format!("call {call_id}");
        if let Some((id, _)) = self.list.iter_mut().rev().find(|(id, _)| id.as_deref() == Some(&waiting)) {
            *id = Some(number);
        }
    }

    /// Reads the text of a message. A checklist replaces the current list.
    pub(super) fn read_checklist(&mut self, text: &str) {
        if !text.contains("[ ]") {
            return;
        }
        let list: Vec<Todo> = text.lines().filter_map(parse_checkbox).take(MAX_TASKS).collect();
        if list.len() > 1 || (list.len() == 1 && self.list.is_empty()) {
            self.list = list.into_iter().map(|todo| (None, todo)).collect();
        }
    }

    /// Adds a task from an earlier summary.
    pub(super) fn add_from_summary(&mut self, todo: Todo) {
        if !self.list.iter().any(|(_, known)| known.text == todo.text) {
            self.push(None, todo);
        }
    }

    pub(super) fn into_list(self) -> Vec<Todo> {
        self.list.into_iter().map(|(_, todo)| todo).collect()
    }

    /// Clears the list if all tasks are done, because the next task starts a new list.
    fn clear_finished_list(&mut self) {
        if self.list.iter().all(|(_, todo)| todo.state == TodoState::Done) {
            self.list.clear();
        }
    }

    fn push(&mut self, id: Option<String>, todo: Todo) {
        if self.list.len() < MAX_TASKS {
            self.list.push((id, todo));
        }
    }
}

/// Whether a call to the tool `name` replaces or updates a to-do list.
pub(super) fn is_todo_call(name: &str, input: &Value) -> bool {
    Todos::default().read_call("", name, input) != TodoToolEffect::None
}

/// How a tool call affects the to-do list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TodoToolEffect {
    /// The call does not affect the list.
    None,
    /// The call replaces the list or updates a task.
    List,
    /// The call creates a task, whose number is in the result.
    Create,
}

/// Reads a whole list from the arguments of a call: `todos` for Claude Code and Cursor, `plan` for Codex.
fn parse_todo_list(input: &Value) -> Option<Vec<Todo>> {
    let list =
        ["todos", "plan", "todo_list", "tasks"].into_iter().find_map(|key| input.get(key))?.as_array()?;
    let todos: Vec<Todo> = list.iter().take(MAX_TASKS).filter_map(parse_todo).collect();
    (!todos.is_empty() || list.is_empty()).then_some(todos)
}

fn parse_todo(entry: &Value) -> Option<Todo> {
    let text = |keys: &[&str]| keys.iter().find_map(|key| entry.get(key)).and_then(Value::as_str);
    let task_text = text(&["content", "step", "text", "title", "subject", "description", "task"])?;
    let state = text(&["status", "state"]).and_then(TodoState::from_name)?;
    Some(Todo { text: one_line(task_text, MAX_TASK_CHARS), state })
}

/// Parses a line with a checkbox: `- [ ] x`, `* [x] y`, `1. [~] z`.
pub(super) fn parse_checkbox(line: &str) -> Option<Todo> {
    let line = line.trim_start();
    let rest = line
        .strip_prefix(['-', '*', '+'])
        .or_else(|| line.trim_start_matches(|c: char| c.is_ascii_digit()).strip_prefix(['.', ')']))?;
    let rest = rest.trim_start().strip_prefix('[')?;
    let (mark, text) = rest.split_once(']')?;
    let state = match mark {
        " " => TodoState::Pending,
        "x" | "X" => TodoState::Done,
        "~" | "-" | ">" | "/" => TodoState::InProgress,
        _ => return None,
    };
    let text = one_line(text, MAX_TASK_CHARS);
    (!text.is_empty()).then_some(Todo { text, state })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(todos: Todos) -> Vec<(String, TodoState)> {
        todos.into_list().into_iter().map(|todo| (todo.text, todo.state)).collect()
    }

    #[test]
    fn the_last_full_list_replaces_earlier_ones() {
        let mut todos = Todos::default();
        let list = json!({ "todos": [{ "content": "a", "status": "completed" }, { "content": "b", "status": "in_progress" }] });
        assert_eq!(todos.read_call("1", "TodoWrite", &list), TodoToolEffect::List);
        let plan = json!({ "plan": [{ "step": "c", "status": "pending" }] });
        assert_eq!(todos.read_call("2", "update_plan", &plan), TodoToolEffect::List);
        assert_eq!(shown(todos), [("c".to_owned(), TodoState::Pending)]);
    }

    #[test]
    fn tasks_created_one_by_one_are_updated_by_their_numbers() {
        let mut todos = Todos::default();
        assert_eq!(
            todos.read_call("a", "TaskCreate", &json!({ "subject": "first" })),
            TodoToolEffect::Create
        );
        assert_eq!(
            todos.read_call("b", "TaskCreate", &json!({ "subject": "second" })),
            TodoToolEffect::Create
        );
        todos.read_task_number("b", "Task #8 created successfully: second");
        todos.read_task_number("a", "Task #7 created successfully: first");
        todos.read_call("c", "TaskUpdate", &json!({ "taskId": "8", "status": "in_progress" }));
        todos.read_call("d", "TaskUpdate", &json!({ "taskId": "7", "status": "completed" }));
        let expected = [("first".to_owned(), TodoState::Done), ("second".to_owned(), TodoState::InProgress)];
        assert_eq!(shown(todos), expected);
    }

    #[test]
    fn checklists_in_messages_are_read() {
        let mut todos = Todos::default();
        todos.read_checklist("Plan:\n- [x] one\n  * [ ] two\n1. [~] three\n- [link](x)\n- plain");
        let expected = [
            ("one".to_owned(), TodoState::Done),
            ("two".to_owned(), TodoState::Pending),
            ("three".to_owned(), TodoState::InProgress),
        ];
        assert_eq!(shown(todos), expected);
    }

    #[test]
    fn other_tools_do_not_change_the_list() {
        let mut todos = Todos::default();
        assert_eq!(todos.read_call("1", "Task", &json!({ "prompt": "x" })), TodoToolEffect::None);
        assert_eq!(todos.read_call("1", "ExitPlanMode", &json!({ "plan": "x" })), TodoToolEffect::None);
        assert_eq!(shown(todos), []);
    }
}
