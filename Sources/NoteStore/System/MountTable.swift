/// The mounts of a Linux system, from `/proc/self/mountinfo`:
///
///     36 35 98:0 /mnt1 /mnt2 rw,noatime shared:1 - ext3 /dev/root rw,errors=continue
///
/// It is read to find out whether a file system is shared with other machines, or served by a program: there are no events for
/// the changes that those make. And whether it is in memory.
struct MountTable {
  private var types: [Substring: Substring] = [:]

  init(_ bytes: [UInt8]) {
    for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
      // The number of fields before the lone hyphen varies.
      let fields = line.split(separator: " ")
      guard fields.count > 3, let hyphen = fields.firstIndex(of: "-"),
        hyphen + 1 < fields.count
      else { continue }
      types[fields[2]] = fields[hyphen + 1]
    }
  }

  /// True if the file system with this number in `stat` is shared or served by a program.
  func isShared(device: UInt64) -> Bool {
    guard let type = type(of: device) else { return false }
    return type == "fuse" || type.hasPrefix("fuse.") || Self.sharedTypes.contains(type)
  }

  /// True if the file system with this number in `stat` is in memory.
  func isInMemory(device: UInt64) -> Bool { type(of: device) == "tmpfs" }

  private func type(of device: UInt64) -> Substring? {
    // These are glibc's `major` and `minor`, which are macros there.
    let major = device >> 8 & 0xfff | device >> 32 & ~0xfff
    let minor = device & 0xff | device >> 12 & 0xffff_ff00
    return types["\(major):\(minor)"]
  }

  private static let sharedTypes: Set<Substring> = [
    "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "virtiofs", "ceph", "afs", "lustre", "gfs2",
    "ocfs2", "vboxsf", "vmhgfs",
  ]
}
