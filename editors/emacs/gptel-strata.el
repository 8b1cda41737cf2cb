;;; gptel-strata.el --- gptel chats with prompts from Strata  -*- lexical-binding: t; -*-

;; Version: 0.1.0
;; Package-Requires: ((emacs "29.1") (gptel "0.9.9"))
;; Keywords: convenience, tools

;;; Commentary:

;; A backend for gptel that sends prompts from Strata through another backend:
;;
;;   (require 'gptel-strata)
;;   (setq gptel-backend (gptel-make-strata "Strata"
;;                         :backend (gptel-make-anthropic "Claude" :stream t :key #'my-key)))
;;
;; A buffer in `gptel-mode' shows a Strata session.  Edits and deletions in the buffer also change the session.  Other
;; requests, such as those of `gptel-rewrite', are sent unchanged.  Each project has its own server, which also receives
;; unsaved changes.

;;; Code:

(require 'cl-lib)
(require 'gptel-request)
(require 'jsonrpc)
(require 'project)
(require 'seq)
(require 'subr-x)

(defgroup gptel-strata nil "gptel chats whose requests Strata assembles." :group 'gptel)

(defcustom gptel-strata-command '("strata" "serve")
  "Command that starts the server, as a program and its arguments."
  :type '(repeat string))

(defvar gptel-strata--backends nil "Backends whose requests Strata assembles.")
(defvar gptel-strata--servers (make-hash-table :test #'equal) "Connections to servers, keyed by root directory.")
(defvar-local gptel-strata--session nil "ID of the Strata session that this buffer shows.")
(defvar-local gptel-strata--turns nil "Turns recorded in the session: a list of (QUESTION . ANSWER), oldest first.")
(defvar-local gptel-strata--tick nil "Server and modification tick of the last synchronization: (SERVER . TICK).")

(defconst gptel-strata--own
  '(:model :messages :system :tools :cache_control :prompt_cache_key :prompt_cache_options)
  "Fields of request bodies that Strata sets.")

;;;###autoload
(cl-defun gptel-make-strata (name &key backend)
  "Register a backend NAME that sends prompts from Strata through BACKEND.
BACKEND must use Anthropic's Messages API or OpenAI's Chat Completions API."
  (declare (indent 1))
  (let ((own (copy-sequence backend)))
    (setf (gptel-backend-name own) name
          (gptel-get-backend name) own)
    (push own gptel-strata--backends)
    own))

;;; The server

(defun gptel-strata--read (text)
  "Parse the JSON in TEXT so that serializing it gives the same JSON."
  (json-parse-string text :object-type 'plist :null-object :null :false-object :json-false))

(defun gptel-strata--start (root)
  "Start a server for the directory ROOT and return the connection."
  (let* ((process (make-process :name "strata" :command gptel-strata-command :connection-type 'pipe :noquery t
                                :coding 'utf-8-emacs-unix :stderr (get-buffer-create " *strata stderr*")))
         (server (make-instance 'jsonrpc-process-connection :name "strata" :process process))
         (uri (concat "file://" (url-hexify-string (directory-file-name root) url-path-allowed-chars)))
         (name (file-name-nondirectory (directory-file-name root))))
    (jsonrpc-request server :initialize `(:processId ,(emacs-pid) :capabilities ,(make-hash-table)
                                          :workspaceFolders [(:uri ,uri :name ,name)]))
    (jsonrpc-notify server :initialized (make-hash-table))
    (puthash root server gptel-strata--servers)))

(defun gptel-strata--tell-buffers (server root)
  "Synchronize modified buffers of files below ROOT with SERVER."
  (dolist (buffer (buffer-list))
    (with-current-buffer buffer
      (when (and buffer-file-name (string-prefix-p root (expand-file-name buffer-file-name)))
        (let ((uri (concat "file://" (url-hexify-string (expand-file-name buffer-file-name) url-path-allowed-chars)))
              (tick (buffer-chars-modified-tick))
              (told (and (eq (car gptel-strata--tick) server) (cdr gptel-strata--tick)))
              (text (save-restriction (widen) (buffer-substring-no-properties (point-min) (point-max)))))
          (cond
           ((and (not told) (buffer-modified-p))
            (jsonrpc-notify server :textDocument/didOpen
                            `(:textDocument (:uri ,uri :languageId "" :version ,tick :text ,text)))
            (setq gptel-strata--tick (cons server tick)))
           ((and told (/= told tick))
            (jsonrpc-notify server :textDocument/didChange
                            `(:textDocument (:uri ,uri :version ,tick) :contentChanges [(:text ,text)]))
            (setq gptel-strata--tick (cons server tick)))))))))

(defun gptel-strata--server ()
  "Return the server for the current project, with all buffers synchronized."
  (let ((root (expand-file-name (if-let* ((project (project-current))) (project-root project) default-directory))))
    (let ((server (gethash root gptel-strata--servers)))
      (unless (and server (jsonrpc-running-p server))
        (setq server (gptel-strata--start root)))
      (gptel-strata--tell-buffers server root)
      server)))

(defun gptel-strata--call (command arguments)
  "Return the parameters that run COMMAND with ARGUMENTS in this buffer's session."
  (when gptel-strata--session
    (setq arguments `(:session ,gptel-strata--session ,@arguments)))
  `(:command ,(concat "strata." command) :arguments [,(or arguments (make-hash-table))]))

(defun gptel-strata--run (command &rest arguments)
  "Run COMMAND with the property list ARGUMENTS in this buffer's session."
  (jsonrpc-request (gptel-strata--server) :workspace/executeCommand (gptel-strata--call command arguments) :timeout 120))

(defun gptel-strata--begin (command &rest arguments)
  "Run COMMAND with ARGUMENTS like `gptel-strata--run', but do not wait.
The server runs later commands after this one."
  (jsonrpc-async-request (gptel-strata--server) :workspace/executeCommand (gptel-strata--call command arguments)
                         :timeout 120
                         :success-fn (lambda (reply) (gptel-strata--warn (plist-get reply :warnings)))
                         :error-fn (lambda (problem) (message "Strata: %s" (plist-get problem :message)))))

;;;###autoload
(defun gptel-strata-add (path)
  "Add the file at PATH to the model's context; by default, this buffer's file."
  (interactive (list (or buffer-file-name (read-file-name "File: "))))
  (gptel-strata--run "files.select" :paths (vector (expand-file-name path)))
  (message "Added to the model's context: %s" (file-name-nondirectory path)))

;;; The conversation

(defun gptel-strata--text (content)
  "Return the text of CONTENT, a string or a vector of blocks."
  (string-trim (if (stringp content) content
                 (mapconcat (lambda (block) (or (plist-get block :text) "")) content "\n"))))

(defun gptel-strata--exchanges (messages)
  "Group MESSAGES of a request into turns, a list of (QUESTION . ANSWER).
The last turn has no answer."
  (let (turns)
    (seq-doseq (message messages)
      (let ((text (gptel-strata--text (plist-get message :content))))
        (pcase (plist-get message :role)
          ("user" (if (and turns (null (cdar turns)))
                      (setcar (car turns) (concat (caar turns) "\n\n" text))
                    (unless (string-empty-p text) (push (cons text nil) turns))))
          ("assistant" (when turns
                         (setcdr (car turns) (string-trim (concat (cdar turns) "\n\n" text))))))))
    (nreverse turns)))

(defun gptel-strata--same-p (recorded shown)
  "Return non-nil if the turns RECORDED and SHOWN differ only in whitespace."
  (cl-flet ((squeezed (text) (replace-regexp-in-string "[ \t\n]+" " " (string-trim (or text "")))))
    (and (equal (squeezed (car recorded)) (squeezed (car shown)))
         (or (eq (cdr recorded) 'stopped)
             ;; In Org mode, gptel converts the Markdown of an answer.
             (derived-mode-p 'org-mode)
             (equal (squeezed (cdr recorded)) (squeezed (cdr shown)))))))

(defun gptel-strata--catch-up (turns)
  "Edit the session so that it contains exactly TURNS."
  (unless gptel-strata--session
    (let ((shown (seq-find (lambda (session) (eq (plist-get session :current) t))
                           (plist-get (gptel-strata--run "session.list") :sessions))))
      (unless (and shown (eql (plist-get shown :messages) 0))
        (setq shown (gptel-strata--run "session.reset")))
      (setq gptel-strata--session (plist-get shown :id))))
  (let ((same 0))
    (while (and (< same (length turns)) (< same (length gptel-strata--turns))
                (gptel-strata--same-p (nth same gptel-strata--turns) (nth same turns)))
      (cl-incf same))
    (when (< same (length gptel-strata--turns))
      (let ((questions (seq-filter (lambda (message) (and (equal (plist-get message :role) "user")
                                                          (equal (plist-get message :kind) "normal")))
                                   (plist-get (gptel-strata--run "history.get") :messages))))
        (if-let* ((first (nth same (append questions nil))))
            (gptel-strata--run "history.truncate" :from (plist-get first :id))
          (gptel-strata--run "history.clear")
          (setq same 0))))
    (dolist (turn (nthcdr same turns))
      (gptel-strata--run "history.addExchange" :user (car turn) :assistant (or (cdr turn) "")))
    (setq gptel-strata--turns (append (seq-take gptel-strata--turns same) (nthcdr same turns)))))

;;; Replies

(defun gptel-strata--events (raw)
  "Parse RAW, the output of curl, into a list of JSON objects.
These are the events of a stream, or the single object of another reply."
  (let ((body (replace-regexp-in-string "\\`\\(?:HTTP/.*\r?\n\\(?:.+\r?\n\\)*\r?\n\\)+" "" raw)))
    (if (string-match-p "^data:" body)
        (seq-keep (lambda (line)
                    (and (string-prefix-p "data:" line)
                         (ignore-errors (gptel-strata--read (string-trim (substring line 5))))))
                  (split-string body "\r?\n"))
      (with-temp-buffer
        (insert body)
        (goto-char (point-min))
        ;; The output of curl's option `--write-out' follows the object.
        (list (ignore-errors (json-parse-buffer :object-type 'plist :null-object :null :false-object :json-false)))))))

(defun gptel-strata--blocks (events)
  "Convert EVENTS of a reply to blocks for Strata to record.
Return (BLOCKS USAGE ENDED)."
  (let (parts usage ended)
    (cl-flet* ((part (index fresh)
                 (or (cdr (assoc index parts)) (let ((new (copy-sequence fresh))) (push (cons index new) parts) new)))
               (grow (one key text)
                 (when (stringp text) (plist-put one key (concat (plist-get one key) text))))
               (call (index id name arguments)
                 (let ((one (part index (list :type "tool_call" :id id :name name :input ""))))
                   (grow one :input arguments)))
               (block (index one)
                 (pcase (plist-get one :type)
                   ("text" (part index (list :type "text" :text (plist-get one :text))))
                   ("thinking" (part index (list :type "thinking" :text (plist-get one :thinking)
                                                 :signature (or (plist-get one :signature) ""))))
                   ("redacted_thinking" (part index (list :type "redacted_thinking" :data (plist-get one :data))))
                   ("tool_use" (call index (plist-get one :id) (plist-get one :name)
                                     (and (plist-get one :input) (json-serialize (plist-get one :input))))))))
      (dolist (event events)
        (let* ((delta (plist-get event :delta))
               (choice (and (> (length (plist-get event :choices)) 0) (aref (plist-get event :choices) 0)))
               (said (or (plist-get choice :delta) (plist-get choice :message))))
          (pcase (plist-get event :type)
            ("message" (seq-do-indexed (lambda (one index) (block index one)) (plist-get event :content)) (setq ended t))
            ("message_start" (setq usage (plist-get (plist-get event :message) :usage)))
            ("content_block_start" (block (plist-get event :index) (plist-get event :content_block)))
            ("content_block_delta"
             (let ((one (part (plist-get event :index) (list :type "text" :text ""))))
               (grow one :text (or (plist-get delta :text) (plist-get delta :thinking)))
               (grow one :input (plist-get delta :partial_json))
               (grow one :signature (plist-get delta :signature))))
            ("message_stop" (setq ended t)))
          (when (plist-get event :usage)
            (setq usage (append (plist-get event :usage) usage)))
          (when (stringp (plist-get said :content))
            (grow (part 'text (list :type "text" :text "")) :text (plist-get said :content)))
          (when (sequencep (plist-get said :tool_calls))
            (seq-do-indexed (lambda (one number)
                              (let ((made (plist-get one :function)))
                                (call (or (plist-get one :index) number) (plist-get one :id) (plist-get made :name)
                                      (plist-get made :arguments))))
                            (append (plist-get said :tool_calls) nil)))
          (when (stringp (plist-get choice :finish_reason)) (setq ended t)))))
    (list (vconcat
           (seq-keep (lambda (part)
                       (let ((one (cdr part)))
                         (pcase (plist-get one :type)
                           ("text" (and (not (string-empty-p (plist-get one :text))) one))
                           ("tool_call"
                            (let ((input (plist-get one :input)))
                              (plist-put one :input (if (string-empty-p input) (make-hash-table)
                                                      (or (ignore-errors (gptel-strata--read input)) (make-hash-table))))
                              (and ended one)))
                           (_ (and ended one)))))
                     (reverse parts)))
          (gptel-strata--usage usage)
          ended)))

(defun gptel-strata--usage (usage)
  "Convert the USAGE of a reply to the form that Strata records."
  (cl-flet ((field (name &optional of) (let ((n (plist-get (or of usage) name))) (if (numberp n) n 0))))
    (when usage
      (if (plist-get usage :prompt_tokens)
          (let* ((details (plist-get usage :prompt_tokens_details))
                 (read (field :cached_tokens (or details '(:none 0))))
                 (written (field :cache_write_tokens (or details '(:none 0)))))
            (list :input (- (field :prompt_tokens) read written) :output (field :completion_tokens)
                  :cacheRead read :cacheWrite written))
        (list :input (field :input_tokens) :output (field :output_tokens)
              :cacheRead (field :cache_read_input_tokens) :cacheWrite (field :cache_creation_input_tokens))))))

(defun gptel-strata--warn (warnings)
  "Show WARNINGS from Strata in the echo area."
  (seq-doseq (warning warnings)
    (message "Strata: %s" (if (stringp warning) warning (plist-get warning :message)))))

(defun gptel-strata--settle (info)
  "Record the outcome of the request with INFO, unless already recorded."
  (when-let* ((id (plist-get info :strata-id))
              (curl (plist-get info :strata-curl)))
    (plist-put info :strata-id nil)
    (pcase-let* ((raw (and (buffer-live-p curl) (with-current-buffer curl (buffer-string))))
                 (`(,blocks ,usage ,ended) (gptel-strata--blocks (gptel-strata--events (or raw "")))))
      (with-current-buffer (plist-get info :buffer)
        (if (equal blocks [])
            (gptel-strata--begin "prompt.discard" :id id)
          (let ((text (mapconcat (lambda (block) (if (equal (plist-get block :type) "text") (plist-get block :text) ""))
                                 blocks ""))
                (asked (plist-get info :strata-asked)))
            (apply #'gptel-strata--begin "prompt.record" :id id
                   `(,@(if ended (list :response blocks) (list :status "aborted" :partial blocks))
                     ,@(and usage (list :usage usage))))
            (unless asked               ; Tool results belong to the previous question.
              (let ((turn (car (last gptel-strata--turns))))
                (setq asked (car turn) text (concat (cdr turn) "\n\n" text)
                      gptel-strata--turns (butlast gptel-strata--turns))))
            (setq gptel-strata--turns (append gptel-strata--turns (list (cons asked text))))))))))

;;; Requests

(defun gptel-strata--tool (tool)
  "Convert TOOL of a request body to a tool declaration for Strata."
  (let* ((made (or (plist-get tool :function) tool))
         (schema (or (plist-get made :input_schema) (plist-get made :parameters))))
    (list :name (plist-get made :name) :description (plist-get made :description)
          :input_schema `(:type "object" :properties ,(or (plist-get schema :properties) (make-hash-table))
                          :required ,(or (plist-get schema :required) [])))))

(defun gptel-strata--assemble (info)
  "Replace the request body in INFO with one that Strata assembles."
  (let* ((data (plist-get info :data))
         (results (or (and (plist-get info :strata-data) (plist-get info :tool-use))
                      (and (plist-get info :strata-again) (plist-get info :strata-results))))
         (turns (and (not results) (gptel-strata--exchanges (plist-get data :messages))))
         (asked (car (car (last turns))))
         (tools (seq-map #'gptel-strata--tool (plist-get (or (plist-get info :strata-data) data) :tools)))
         (reply (progn
                  (unless results (gptel-strata--catch-up (butlast turns)))
                  (apply #'gptel-strata--run "prompt.assemble"
                         :format (if (eq (type-of (plist-get info :backend)) 'gptel-anthropic) "anthropic" "openai")
                         :model (plist-get data :model) :bodyAs "text" :tools (vconcat tools)
                         (if results
                             (list :toolResults
                                   (vconcat (mapcar (lambda (call)
                                                      (list :callId (plist-get call :id) :outcome "ok"
                                                            :content `[(:type "text" :text ,(plist-get call :result))]))
                                                    results)))
                           (list :prompt (or asked ""))))))
         (extra (cl-loop for (key value) on (or (plist-get info :strata-data) data) by #'cddr
                         unless (memq key gptel-strata--own) append (list key value))))
    (gptel-strata--warn (plist-get reply :warnings))
    (unless (plist-get info :strata-data) (plist-put info :strata-data data))
    (plist-put info :strata-results results)
    (plist-put info :strata-asked asked)
    (plist-put info :strata-id (plist-get reply :id))
    (plist-put info :data (append (gptel-strata--read (plist-get reply :body)) extra))))

(defun gptel-strata--send (send fsm)
  "Call SEND with FSM after Strata has assembled its request body."
  (let ((info (gptel-fsm-info fsm)))
    (with-current-buffer (plist-get info :buffer)
      (gptel-strata--assemble info)
      (funcall send fsm)
      (when-let* ((process (car (seq-find (lambda (entry) (eq (cadr entry) fsm)) gptel--request-alist))))
        (plist-put info :strata-curl (process-buffer process))))))

(defun gptel-strata--wait (send fsm)
  "Call SEND with FSM.
If its backend is Strata's, assemble the request body first."
  (let ((info (gptel-fsm-info fsm)))
    (cond
     ((not (and (memq (plist-get info :backend) gptel-strata--backends)
                (buffer-local-value 'gptel-mode (plist-get info :buffer))))
      (funcall send fsm))
     ;; Tool results arrive in the sentinel of the last request, which must not wait.
     ((plist-get info :strata-data) (run-at-time 0 nil #'gptel-strata--send send fsm))
     (t (gptel-strata--send send fsm)))))

(defun gptel-strata--too-long-p (raw)
  "Return non-nil if RAW, the output of curl, reports that the prompt is too long."
  (let ((case-fold-search t))
    (and (string-match-p "\\`HTTP/[0-9.]+ [45]" raw)
         (string-match-p "prompt is too long\\|context_length_exceeded\\|maximum context length\\|context window" raw))))

(defun gptel-strata--ended (next process status)
  "Call NEXT with PROCESS and STATUS, unless the prompt was too long.
In that case, compact the conversation and send the prompt again."
  (let* ((fsm (car (alist-get process gptel--request-alist)))
         (info (and fsm (gptel-fsm-info fsm))))
    (if (and (plist-get info :strata-id) (not (plist-get info :strata-again))
             (gptel-strata--too-long-p (with-current-buffer (process-buffer process) (buffer-string))))
        (run-at-time 0 nil #'gptel-strata--recover next process status)
      (when info (gptel-strata--settle info))
      (funcall next process status))))

(defun gptel-strata--recover (next process status)
  "Compact the conversation and send the request of PROCESS again.
If Strata advises against it, call NEXT with PROCESS and STATUS."
  (let* ((fsm (car (alist-get process gptel--request-alist)))
         (info (gptel-fsm-info fsm))
         (recorded (with-current-buffer (plist-get info :buffer)
                     (gptel-strata--run "prompt.record" :id (plist-get info :strata-id)
                                        :status "error" :error "context_limit"))))
    (plist-put info :strata-id nil)
    (plist-put info :strata-again t)
    (if (not (eq t (plist-get recorded :retry)))
        (funcall next process status)
      (message "Strata: the model rejected the prompt as too long; compacting the conversation and sending it again")
      (dolist (key '(:http-status :status)) (plist-put info key nil))
      (plist-put info :data (plist-get info :strata-data))
      (setf (gptel-fsm-state fsm) 'WAIT)
      (gptel--handle-wait fsm)
      (setf (alist-get process gptel--request-alist nil 'remove) nil)
      (kill-buffer (process-buffer process)))))

(defun gptel-strata--abort (buffer &rest _)
  "Record the partial answer that is being stopped in BUFFER."
  (dolist (entry gptel--request-alist)
    (let ((info (gptel-fsm-info (cadr entry))))
      (when (eq (plist-get info :buffer) buffer)
        (gptel-strata--settle info)
        (with-current-buffer buffer
          ;; It is unknown how much of the answer the buffer shows.
          (when-let* ((turn (car (last gptel-strata--turns))))
            (setcdr turn 'stopped)))))))

(advice-add 'gptel-abort :before #'gptel-strata--abort)
(advice-add 'gptel--handle-wait :around #'gptel-strata--wait)
(advice-add 'gptel-curl--stream-cleanup :around #'gptel-strata--ended)
(advice-add 'gptel-curl--sentinel :around #'gptel-strata--ended)

(provide 'gptel-strata)
;;; gptel-strata.el ends here
