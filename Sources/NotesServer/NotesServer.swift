public import FileTree
public import JSONRPC
public import NoteFiles
internal import NoteStore
internal import Notes
public import ReplicatingTypes

/// Speaks the protocol of `Protocol/README.md` with one client, over a notebook in a folder.
///
/// The server does no input or output with the client and its peers, waits for nothing, and reads no clock. Its owner
///
/// - hands it the bytes that come (`receive`), and sends those of `outbox`;
/// - waits for its `descriptors`, and tells it which of them are ready (`handleReady`);
/// - tells it the time (`advance`) after anything has happened, but for changes of texts somewhat later (`isOnlyTyping`), and when `nextDeadline`
///   has come;
/// - carries the bytes of its `exchanges` to the peers and back;
/// - ends the process when there is an `exitStatus`.
///
/// Everything happens in the order of these calls. This file has the state; the other files of the module extend it, and each
/// uses only files below it. They are, bottom up: the changes of the notebook, the methods by groups, the pushes, the table of
/// methods, the messages (`NotesServer+Messages.swift`), and the events outside (`NotesServer+Events.swift`).
public struct NotesServer: ~Copyable {
  /// Everything that comes from the outside world, so that every run can be repeated.
  public struct Environment {
    /// The notebook's folder when the client doesn't name one.
    public var folder: String
    /// The folder in which this user's programs keep their state; nil for none.
    public var stateFolder: String?
    /// A folder of this user in memory, for a process of one request: it goes on with the session that the one before has left there. Nil
    /// for none.
    public var memoryFolder: String?
    /// The path for which "~" stands at the beginning of a folder that the client names.
    public var homeFolder: String?
    /// The name of whoever uses the program, where the client gives none; empty for no name.
    public var participant = ""
    /// The name of the program, where the client gives none.
    public var program = "decent-notes"
    /// The framing of messages to and from the client.
    public var framing: Framing
    /// The length of the longest message that is taken, in bytes.
    public var maximumMessage: Int
    /// The length of a journal of open texts above which it is written anew, in bytes.
    public var longJournal: Int
    /// The meaning of a reply to a request that changes something.
    public var durability: Durability
    /// The peers to exchange changes with all the time.
    public var peers: [String] = []
    /// The interval from the beginning of one exchange with a peer to that of the next.
    public var syncInterval = Duration.seconds(30)
    /// True for the requests of one command of a command line. Then a parameter that the method does not have is an error, and so is a
    /// notebook that does not exist, unless the request may begin one: both are probably mistyped. Nothing is watched.
    public var isSingleRequest = false
    /// True if the client is not trusted with more than the notes in `folder`: it reaches no other folder and no peer.
    public var isConfined = false
    /// The size of the pieces in which changes go to a peer or come from it, in bytes. A piece is merged at once, so a large one
    /// makes a client wait.
    public var syncPiece = 64 << 10
    /// The present time, in milliseconds since 1970.
    public var now: () -> Int64
    /// Returns 128 random bits, new ones with each call.
    public var makeIdentifier: () -> Identifier
    /// Opens a folder of files; the second parameter says whether to make it.
    public var openTree: (String, Bool) throws(FileTreeError) -> any FileTree = {
      path, _ throws(FileTreeError) in
      throw FileTreeError("open", path, .other, "there are no files here")
    }
    /// The folder of files that are kept equal to the notes; nil for none.
    public var mirror: String?
    /// What the user has said about that folder, if it is not as it was.
    public var mirrorAnswer: MirrorAnswer?
    /// The command lines that the user is told.
    public var commandLines = CommandLines()
    /// The time zone of times that are written without one.
    public var zone: LocalZone = { _ in 0 }
    /// Returns true if there is a process of this number.
    public var isRunning: (_ process: Int) -> Bool = { _ in true }
    /// Called with the reason, in words, for which the process ends where its client did not ask for that.
    public var reportEnd: (_ reason: String) -> Void = { _ in }
    /// Called when much memory has become free, to give it back to the system.
    public var returnMemory: () -> Void = {}

    /// Creates an environment; values that are not given have their defaults.
    public init(
      folder: String, stateFolder: String? = nil, homeFolder: String? = nil,
      framing: Framing = .automatic, maximumMessage: Int = 32 << 20, longJournal: Int = 16 << 20,
      durability: Durability = .background, now: @escaping () -> Int64,
      makeIdentifier: @escaping () -> Identifier
    ) {
      self.folder = folder
      self.stateFolder = stateFolder
      self.homeFolder = homeFolder
      self.framing = framing
      self.maximumMessage = maximumMessage
      self.longJournal = longJournal
      self.durability = durability
      self.now = now
      self.makeIdentifier = makeIdentifier
    }
  }

  /// What is to be done where much of a mirror is gone or has changed.
  public enum MirrorAnswer: String, Sendable {
    /// It is meant so: notes whose files are gone go into the trash, and what has changed is read.
    case confirm
    /// It is not: the files are written again, or the notes become what the files have.
    case restore
    /// The folder was that of another notebook or of another machine, and becomes this one's.
    case adopt
  }

  /// The version of this program.
  public static let programVersion = "0.1.0"

  let environment: Environment
  var connection: ClientConnection
  var client = ClientState()
  /// The notebook and its folder, once the client has named it.
  var store: NoteStore?
  /// The part of a set of changes that has come.
  var incomingChanges = IncomingChanges()
  var openTexts = OpenTexts()
  /// The changes of which the client is not told yet.
  var untoldChanges: [NoteID: Effects.NoteEffect] = [:]
  /// The journal of the open texts, by which their clients can resume if this process dies; nil before the first open text.
  var journal: AttachmentJournal?
  /// The cursors of this process's client, and those of other processes; nil before the first open text.
  var sharedPresence: SharedPresence?
  var requests = Requests()
  var damageReports = DamageReports()
  var schedule = Schedule()
  var mirroring = Mirroring()
  /// Which note links to which, as far as it was read.
  var indexing = Indexing()
  /// The notes that were purged, whose files `forgetFiles` is to forget.
  var notesToForget: Set<NoteID> = []
  /// The exchanges with peers that are under way, by number.
  public var exchanges: [Int: RunningExchange] = [:]
  var peers: Peers

  /// Creates a server whose client has said nothing yet.
  public init(_ environment: Environment) {
    self.environment = environment
    connection = ClientConnection(
      framing: environment.framing, maximumMessage: environment.maximumMessage)
    peers = Peers(schedule: PeerSchedule(environment.peers, every: environment.syncInterval))
  }

  // MARK: - The client

  /// The bytes that are to be sent to the client. The owner removes those that were sent.
  public var outbox: Outbox {
    _read { yield connection.outbox }
    _modify { yield &connection.outbox }
  }

  /// True if there are bytes to be sent to the client. The owner asks it several times for each message, and a look into `outbox` from another
  /// module takes an allocation.
  public var hasOutput: Bool { !connection.outbox.isEmpty }

  /// The outbox for the next message to the client: behind the answers that wait for the disk.
  var currentOutbox: Outbox {
    _read { yield connection.currentOutbox }
    _modify { yield &connection.currentOutbox }
  }

  /// True while the client has to read before further requests are carried out.
  public var isFull: Bool { connection.isFull }

  /// True when nothing more is taken from the client, because the process is to end.
  public var isOver: Bool { client.exitStatus != nil }

  /// The exit status when the process is to end and nothing is left to be sent, or the client reads no more; nil before that.
  public var exitStatus: Int32? {
    !hasOutput || connection.isOutputGone ? client.exitStatus : nil
  }

  // MARK: - The notebook

  /// The path of the notebook's folder, once the client has named it.
  public var notebookPath: String? { store?.path }

  /// A copy of the notebook, for reading. If a copy is still held when a change is made, all that the change touches has to be
  /// copied. So operations are planned in functions of their own, which have returned by then.
  var book: NoteBook { store?.notebook ?? NoteBook() }

  /// The name of the present state.
  var revision: String { store.map { "\($0.notebook.revision)" } ?? "0" }
}

/// The client's settings, and the phase of its connection.
struct ClientState {
  enum Phase { case new, ready, shutDown }

  var phase = Phase.new
  /// The exit status of the process, once it is to end.
  var exitStatus: Int32?
  /// The number of the process with which this one ends: `processId` of `initialize`, if there was such a process then.
  var parentProcess: Int?
  /// The units in which positions count.
  var encoding = PositionEncoding.utf16
  /// The author of the changes of this process, as histories and other participants name it; nil if it has no name.
  var participant: Author?
  /// True if the client is another process that exchanges changes: what it is told no user reads.
  var isExchange = false
  /// The state of a client that follows; nil if the client doesn't.
  var follower: Follower?
  /// True if the client wants `$/logTrace`.
  var isTracing = false
}
