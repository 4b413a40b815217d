public import JSONRPC

/// Serves a notebook to an agent by the Model Context Protocol: the revision 2026-07-28, and those up to 2025-11-25 for clients that send `initialize`.
///
/// It stands between the agent and the server of the notebook, whose client it is: what the agent asks for becomes requests of the protocol
/// of `Protocol/README.md`, and the answers become results. It knows nothing of notes but what that protocol says of them.
///
/// It does no input or output, waits for nothing, and reads no clock. Its owner
///
/// - hands it the bytes of the agent (`receive`), sends those of `outbox`, and says how many were sent (`didSend`);
/// - gives the notebook's server the bytes of `takeRequests`, and hands it each message of that server (`receiveFromNotebook`);
/// - tells it the time (`advance`) after anything has happened, and when `nextDeadline` has come;
/// - ends the process when it `isDone`.
///
/// This file has the state. The others extend it, and each uses only files below it: the requests of the notebook, the subscriptions, the
/// presence, resources and tools, the messages (`AgentServer+Messages.swift`), and the events outside (`AgentServer+Events.swift`).
public struct AgentServer {
  /// The settings of the command line.
  public struct Options: Sendable {
    /// The version of this program.
    public var version: String
    /// The name of an agent that does not give one.
    public var name: String
    /// True if nothing in the notebook may be changed.
    public var isReadOnly: Bool
    /// The length of the longest message that is taken, in bytes.
    public var maximumMessage: Int

    /// Creates options.
    public init(
      version: String, name: String, isReadOnly: Bool = false, maximumMessage: Int = 32 << 20
    ) {
      self.version = version
      self.name = name
      self.isReadOnly = isReadOnly
      self.maximumMessage = maximumMessage
    }
  }

  typealias Answer = Result<JSONValue, NotebookFailure>
  typealias Continuation = (inout AgentServer, Answer) -> Void

  /// A request that waits until the notebook is open.
  struct Deferred {
    let method: String
    let params: [UInt8]
    let agentRequest: RequestID?
    let then: Continuation
  }

  /// A request of the agent that is not answered.
  struct Underway {
    /// True if others are carried out meanwhile.
    let isLong: Bool
    /// True if its answer goes into that of `batch`.
    let isInBatch: Bool
    /// The request of the notebook that was made for it last.
    var notebookRequest: Int?
  }

  enum NotebookPhase { case closed, opening, open, left }

  let options: Options

  // The agent.
  var input: FrameDecoder
  /// The bytes that are to be sent to the agent. The owner says by `didSend` how many were sent.
  public internal(set) var outbox = Outbox(framing: .lines)
  var era = Era.unsettled
  /// The first name that the agent has given.
  var agentName: String?
  /// The requests of the agent that are not answered.
  var underway: [RequestID: Underway] = [:]
  /// The batch of the agent that is carried out; nil for none.
  var batch: MessageBatch?
  var isInputOver = false
  /// True once the notebook is being left.
  var isLeaving = false
  var isOutputGone = false

  // The notebook.
  var phase = NotebookPhase.closed
  var requests: [UInt8] = []
  var lastRequest = -1
  /// The functions that take the answers to the requests which are not answered, by their ids.
  var waiting: [Int: Continuation] = [:]
  var deferred: [Deferred] = []

  var subscriptions = Subscriptions()
  var presence = Presence()

  /// Creates a server to which nothing has been said yet.
  public init(_ options: Options) {
    self.options = options
    input = FrameDecoder(framing: .lines, maximumMessage: options.maximumMessage)
  }

  /// While this many bytes wait for the agent to read them, no further request is carried out.
  private static let fullOutbox = 32 << 20
  /// So many requests that take long are carried out at once.
  private static let mostLong = 4

  /// True while the agent has to read, or the notebook to answer, before further requests are taken: who sends without reading must not
  /// fill the memory. Of requests that do not take long one is carried out at a time, in the order in which they were sent.
  public var isFull: Bool { batch != nil || isOccupied }

  /// The same for further requests of a batch that is carried out.
  var isOccupied: Bool {
    outbox.count >= Self.fullOutbox || underway.count >= Self.mostLong
      || underway.contains { !$0.value.isLong }
  }
}
