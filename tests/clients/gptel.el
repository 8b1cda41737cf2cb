;; A chat of gptel with Strata's backend.  Each line of standard input is a Lisp list, which describes one action of the user.  -*- lexical-binding: t; -*-

(add-to-list 'load-path (getenv "GPTEL"))
(add-to-list 'load-path (expand-file-name "../../editors/emacs" (file-name-directory load-file-name)))
(require 'gptel)
(require 'json)
(require 'gptel-anthropic)
(require 'gptel-strata)

(setq gptel-strata-command (list (getenv "STRATA_BIN") "serve")
      gptel-model (intern (getenv "STRATA_MODEL"))
      gptel-default-mode #'text-mode
      gptel-use-curl t
      make-backup-files nil
      gptel-confirm-tool-calls nil)
(setq gptel-backend
      (gptel-make-strata "Strata"
        :backend (gptel-make-anthropic "Stand-in" :protocol "http" :host (getenv "STAND_IN_HOST") :stream t :key "a key"
                   :models (list gptel-model))))
(setq gptel-tools
      (and (getenv "CHAT_TOOL")
           (list (gptel-make-tool :name "weather" :description "Returns the weather in a city"
                                  :args '((:name "city" :type string :description "Name of the city"))
                                  :function (lambda (city) (format "It rains in %s." city))))))

(setq locale-coding-system 'utf-8)

(defvar chat nil "The buffer of the chat.")
(defvar said nil "Messages that Emacs has shown, newest first.")
(advice-add 'message :after (lambda (format &rest arguments)
                              (when format (push (apply #'format-message format arguments) said))))

(defun wait ()
  "Wait until no request is pending."
  (with-timeout (60 (error "No answer: %S" said))
    (while (not (memq (gptel-fsm-state (buffer-local-value 'gptel--fsm-last chat)) '(DONE ERRS ABRT)))
      (accept-process-output nil 0.01))))

(defun send (question)
  (with-current-buffer chat
    (goto-char (point-max))
    (insert question)
    (setq gptel--fsm-last (gptel-make-fsm))
    (gptel-send)))

(defun open-chat ()
  (setq chat (gptel (generate-new-buffer-name "*chat*") nil "" nil)))

(defun obey (words)
  "Perform the action that WORDS describe, and print the resulting state."
  (pcase words
    (`(add . ,paths) (dolist (path paths) (find-file-noselect path) (gptel-strata-add path)))
    (`(type ,path ,at-top ,line)
     (with-current-buffer (find-file-noselect path)
       (goto-char (if at-top (point-min) (point-max)))
       (insert line "\n")))
    (`(ask ,question) (send question) (wait))
    (`(stop ,question ,upto)
     (send question)
     (with-timeout (60 (error "No answer"))
       (while (not (string-search upto (with-current-buffer chat (buffer-string)))) (accept-process-output nil 0.01)))
     (gptel-abort chat))
    (`(replace ,old ,new)
     (with-current-buffer chat
       (goto-char (point-min))
       (search-forward old)
       (replace-match new t t)))
    (`(remove-from ,text)
     (with-current-buffer chat
       (goto-char (point-min))
       (search-forward text)
       (delete-region (match-beginning 0) (point-max))))
    (`(new) (open-chat)))
  (let* ((history (with-current-buffer chat (gptel-strata--run "history.get"))))
    (princ (concat (json-encode
                    (list :chat (with-current-buffer chat (buffer-substring-no-properties (point-min) (point-max)))
                          :said (vconcat (reverse said))
                          :history (vconcat (mapcar (lambda (message)
                                                      (vector (plist-get message :role)
                                                              (mapconcat (lambda (block)
                                                                           (or (plist-get block :text)
                                                                               (plist-get block :name)
                                                                               "result"))
                                                                         (plist-get message :content) "\n")))
                                                    (plist-get history :messages)))))
                   "\n"))))

(open-chat)
(condition-case nil
    (while t
      (obey (car (read-from-string (read-from-minibuffer "")))))
  (end-of-file (kill-emacs 0)))
