package import Testing

extension Tag {
  /// Takes longer than five seconds alone.
  @Tag package static var slow: Self
  /// Needs Vim, Neovim or Emacs, and tmux.
  @Tag package static var editor: Self
  /// Needs a program besides, such as strace, ssh or rclone.
  @Tag package static var tool: Self
  /// Needs root, to mount a file system or to run processes of several accounts.
  @Tag package static var root: Self
}
