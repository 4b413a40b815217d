/// The users who have access to what is created.
enum Users {
  /// The user who creates it.
  case owner
  /// Those who have access to the folder that it is created in, if that is a team's.
  case ofFolder
}

// A NOTEBOOK OF A TEAM
//
// The setgid bit of a folder says that a team works in it: its group. What is created in it belongs to that group, which the system sees to,
// and a folder has that bit, too. Any other folder is private inside, whatever its mode: 0755 and 0775 are what `mkdir` makes, and
// nobody has asked for anything by that.
//
// The group gets what it needs, whatever the umask: in folders what it may do in the folder above, because each process creates a folder of
// its own in `log`, and compaction removes the files of others; of files only reading, because no process writes to a file of another one.
// A umask that kept this from the group would make a notebook that the team cannot read, which nobody can want who works in a folder of a
// team. Other users get what they may do in the folder above, but for what the umask forbids them, and never write to a file. (The process's
// umask is to forbid nothing to the owner and the group; see `userMask` of the program.)
//
// The modes are given with the call that creates, and not set afterwards: another process looks into a folder as soon as it is there. So a
// default ACL counts, too, and a file system without modes refuses nothing.

/// The modes of what is created in a folder.
struct FileModes: Equatable {
  let file: UInt32
  let folder: UInt32

  /// Access for the owner alone.
  static let ofOwner = FileModes(file: 0o600, folder: 0o700)

  private init(file: UInt32, folder: UInt32) {
    self.file = file
    self.folder = folder
  }

  /// The modes of what is created in a notebook's folder of the mode `mode`.
  init(in mode: UInt32) {
    guard mode & 0o2000 != 0 else {
      self = .ofOwner
      return
    }
    self.init(file: 0o600 | mode & 0o044, folder: 0o700 | mode & 0o1077)
  }
}
