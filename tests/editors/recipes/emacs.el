;; Types into a buffer, runs the commands of the configuration, and checks what they show. Environment variables: CONFIG, the file with
;; the configuration; REPO, the repository. -*- lexical-binding: t -*-

(load (getenv "CONFIG") nil t)

(defun check (what holds)
  (unless holds
    (message "FAILED: %s" what)
    (kill-emacs 1))
  (message "ok: %s" what))

(defun preview ()
  (strata-preview "What is this?")
  (with-current-buffer "*strata*" (buffer-string)))

(find-file (expand-file-name "src/greet.txt" (getenv "REPO")))
(text-mode)
(apply #'eglot--connect (eglot--guess-contact))
;; On a busy machine, eglot connects a moment before it manages the buffer.
(with-timeout (60) (while (not (eglot-managed-p)) (accept-process-output nil 0.05)))
(check "the buffer is managed" (eglot-managed-p))
(while (not (equal (plist-get (strata "server.status") :index) "ready"))
  (accept-process-output nil 0.05))
(goto-char (point-min))
(insert "typed é 漢字 🦀\n")
(call-interactively #'strata-add)
(check "the typed text is in the prompt" (string-match-p "typed é 漢字 🦀\non disk" (preview)))
(check "nothing was saved" (buffer-modified-p))
(insert "more\n")
(check "text typed later is in the prompt" (string-match-p "🦀\nmore\non disk" (preview)))
(call-interactively #'strata-remove)
(check "the removed file is not in the prompt" (not (string-match-p "on disk" (preview))))
(let ((process (jsonrpc--process (eglot-current-server))))
  (set-buffer-modified-p nil)
  (eglot-shutdown (eglot-current-server))
  (check "the server has ended" (not (process-live-p process))))
(kill-emacs 0)
