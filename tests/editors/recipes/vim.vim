" Types into a buffer, runs the commands of the configuration, and checks what they show.
set nocompatible nomore hidden
execute 'set runtimepath^=' . fnameescape($ALE)
let g:ale_linters = {'text': ['strata']}
filetype plugin on
runtime plugin/ale.vim
source $CONFIG

function! Check(what, holds) abort
  call writefile([(a:holds ? 'ok: ' : 'FAILED: ') . a:what], $LOG, 'a')
  if !a:holds
    call writefile(split(execute('messages'), "\n"), $LOG, 'a')
    cquit!
  endif
endfunction

function! Until(what, Condition) abort
  for _ in range(3000)
    if a:Condition()
      return Check(a:what, 1)
    endif
    sleep 10m
  endfor
  call Check(a:what, 0)
endfunction

function! Said(text) abort
  return {-> stridx(execute('messages'), a:text) >= 0}
endfunction

function! Preview() abort
  let l:here = winnr('$')
  StrataPreview What is this?
  call Until('a preview is shown', {-> winnr('$') > l:here})
  let l:text = join(getline(1, '$'), "\n")
  close
  return l:text
endfunction

edit $REPO/src/greet.txt
set filetype=text
execute "normal! Otyped é 漢字 🦀\<Esc>"
StrataAdd
call Until('the file is selected', Said('in the context'))
call Check('the typed text is in the prompt', stridx(Preview(), "typed é 漢字 🦀\non disk") >= 0)
execute "normal! omore\<Esc>"
call Check('text typed later is in the prompt', stridx(Preview(), "🦀\nmore\non disk") >= 0)
call Check('nothing was saved', &modified)
StrataRemove
call Until('the file is removed', Said('no longer in it'))
call Check('the removed file is not in the prompt', stridx(Preview(), 'on disk') < 0)
qall!
