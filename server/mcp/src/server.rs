//! The protocol side of the server: turns requests into calls and outcomes into results, reports progress, and handles
//! cancellation. Stateless.

use std::sync::OnceLock;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, GetPromptRequestParams,
    GetPromptResponse, GetPromptResult, Implementation, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, Prompt,
    PromptArgument, PromptMessage, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    Resource, ResourceContents, ResourceTemplate, Role, ServerCapabilities, ServerConfig, ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler, model};
use strata_app::commands::{Access, CommandDefinition, CommandError};
use strata_app::jobs::tools::{self, TOOLS, Tool, ToolReply, ToolSchemas};
use strata_app::model::index::OutlineProgress;
use strata_app::runtime::headless::Cancel;

use crate::prompts::{self, PROMPTS};
use crate::resources::{self, ResourceAddress, ResourcePage, ResourceText, TEMPLATES};
use crate::view::{CallNeeds, RequiredIndex, WorkspaceView};
use crate::worker::{PendingCall, Worker};

pub(crate) struct Server {
    worker: Worker,
    instructions: String,
    tools: OnceLock<Vec<model::Tool>>,
}

impl Server {
    pub(crate) fn new(worker: Worker, instructions: String) -> Self {
        Self { worker, instructions, tools: OnceLock::new() }
    }

    /// Runs `work` on the worker and reports its progress to the client.
    async fn run_on_worker<T: Send + 'static>(
        &self,
        call_name: &'static str,
        context: &RequestContext<RoleServer>,
        work: impl FnOnce(&mut WorkspaceView, &Cancel, &mut dyn FnMut(OutlineProgress)) -> Result<T, CommandError>
        + Send
        + 'static,
    ) -> Result<T, CommandError> {
        let PendingCall { mut answer, mut progress, wait: _wait } = self.worker.submit(call_name, work)?;
        let token = context.meta.get_progress_token();
        let report = async |progress_so_far: OutlineProgress| {
            if let Some(token) = &token {
                let notification = ProgressNotificationParam::new(token.clone(), progress_so_far.done as f64)
                    .with_total(progress_so_far.total as f64)
                    .with_message("outlining files");
                // A client that has disconnected needs no reports.
                let _ = context.peer.notify_progress(notification).await;
            }
        };
        loop {
            tokio::select! {
                () = context.ct.cancelled() => return Err(CommandError::Cancelled),
                Some(progress_so_far) = progress.recv() => report(progress_so_far).await,
                done = &mut answer => {
                    while let Ok(progress_so_far) = progress.try_recv() {
                        report(progress_so_far).await;
                    }
                    return done.unwrap_or_else(|_| Err(CommandError::failed("the server is shutting down")));
                }
            }
        }
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities =
            ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts().build();
        let server_info =
            Implementation::new("strata", env!("CARGO_PKG_VERSION")).with_title("Strata").with_description(
                "Finds the parts of a repository that matter for a task, within a token budget",
            );
        ServerConfig::new(capabilities)
            .with_server_info(server_info)
            .with_instructions(self.instructions.clone())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.tools.get_or_init(|| {
            let schemas = ToolSchemas::from_commands();
            TOOLS.iter().map(|tool| to_protocol_tool(tool, &schemas)).collect()
        });
        Ok(ListToolsResult { tools: tools.clone(), ..ListToolsResult::default() })
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = Tool::by_name(&request.name) else {
            return Err(ErrorData::invalid_params(format!("unknown tool `{}`", request.name), None));
        };
        let arguments = request.arguments.unwrap_or_default();
        let called = self
            .run_on_worker(tool.name, &context, move |view, cancel, report| {
                let index = CommandDefinition::by_name(tool.command)
                    .map_or(RequiredIndex::Nothing, RequiredIndex::For);
                let needs = CallNeeds { access: tool.access(), index };
                view.prepare_and_run(needs, cancel, report, |view| {
                    tools::call_tool(tool, arguments, view.headless_mut())
                })
            })
            .await;
        Ok(match called {
            Ok(ToolReply { text, structured, .. }) => {
                let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
                result.structured_content = Some(structured);
                result
            }
            Err(error) => CallToolResult::error(vec![ContentBlock::text(error.to_string())]),
        }
        .into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let prompts = PROMPTS.iter().map(|prompt| {
            let argument = prompt.argument.map(|(name, description)| {
                vec![PromptArgument::new(name).with_description(description).with_required(true)]
            });
            Prompt::new(prompt.name, Some(prompt.description), argument).with_title(prompt.title)
        });
        Ok(ListPromptsResult { prompts: prompts.collect(), ..ListPromptsResult::default() })
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let Some(prompt) = prompts::PromptTemplate::by_name(&request.name) else {
            return Err(ErrorData::invalid_params(format!("unknown prompt `{}`", request.name), None));
        };
        let arguments = request.arguments.unwrap_or_default();
        let write =
            move |view: &mut WorkspaceView, cancel: &Cancel, report: &mut dyn FnMut(OutlineProgress)| {
                prompt.render(&arguments, view, cancel, report)
            };
        let text = self.run_on_worker("prompts/get", &context, write).await.map_err(|error| match error {
            CommandError::InvalidParams { .. } | CommandError::Failed { .. } => {
                ErrorData::invalid_params(error.to_string(), None)
            }
            error => internal_error(&error),
        })?;
        let message = PromptMessage::new_text(Role::User, text);
        Ok(GetPromptResult::new(vec![message]).with_description(prompt.description).into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let after = request.and_then(|request| request.cursor);
        let list =
            move |view: &mut WorkspaceView, cancel: &Cancel, report: &mut dyn FnMut(OutlineProgress)| {
                resources::list(after.as_deref(), view, cancel, report)
            };
        let ResourcePage { entries, next } = self
            .run_on_worker("resources/list", &context, list)
            .await
            .map_err(|error| internal_error(&error))?;
        let resources = entries.into_iter().map(|entry| {
            Resource::new(entry.uri, entry.name)
                .with_title(entry.title)
                .with_description(entry.description)
                .with_mime_type(entry.kind)
        });
        Ok(ListResourcesResult {
            resources: resources.collect(),
            next_cursor: next,
            ..ListResourcesResult::default()
        })
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let templates = TEMPLATES.iter().map(|template| {
            ResourceTemplate::new(template.uri, template.name)
                .with_title(template.title)
                .with_description(template.description)
                .with_mime_type(template.kind)
        });
        Ok(ListResourceTemplatesResult {
            resource_templates: templates.collect(),
            ..ListResourceTemplatesResult::default()
        })
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri;
        let Some(address) = ResourceAddress::parse(&uri) else {
            return Err(ErrorData::resource_not_found(format!("no resource at `{uri}`"), None));
        };
        let read =
            move |view: &mut WorkspaceView, cancel: &Cancel, report: &mut dyn FnMut(OutlineProgress)| {
                resources::read(&address, view, cancel, report)
            };
        let ResourceText { text, kind } =
            self.run_on_worker("resources/read", &context, read).await.map_err(|error| match error {
                CommandError::InvalidParams { .. } => ErrorData::resource_not_found(error.to_string(), None),
                error => internal_error(&error),
            })?;
        let contents = ResourceContents::text(text, uri).with_mime_type(kind);
        Ok(ReadResourceResult::new(vec![contents]).into())
    }
}

fn to_protocol_tool(tool: &Tool, schemas: &ToolSchemas) -> model::Tool {
    let annotations = ToolAnnotations::with_title(tool.title)
        .read_only(tool.access() == Access::Reads)
        .destructive(false)
        .idempotent(tool.access() != Access::Stores)
        .open_world(false);
    model::Tool::new(tool.name, tool.description, schemas.input_schema(tool))
        .with_title(tool.title)
        .with_raw_output_schema(schemas.output_schema(tool).into())
        .with_annotations(annotations)
}

fn internal_error(error: &CommandError) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}
