internal import FileTree
internal import NoteStore
internal import Notes

// Events other than the client's messages: descriptors that become ready, and deadlines that have come. Everything that the
// server does by itself begins here.

extension NotesServer {
  // MARK: - Descriptors

  /// The event that a descriptor tells of. (The owner has the descriptors of the client and of the peers.)
  public enum Source: Sendable {
    /// Data reached the disk, or could not.
    case disk
    /// Files of the notebook changed.
    case folder
    /// Other processes have written where their clients' cursors are.
    case presence
    /// Files of the mirror changed.
    case mirror
  }

  /// The descriptors to wait for until they are readable, in the order in which to handle them.
  ///
  /// Watching of the folder begins when this is asked for. Descriptors come and go: ask before each wait.
  public var descriptors: [(source: Source, number: Int32)] {
    guard let store else { return [] }
    var descriptors: [(source: Source, number: Int32)] = []
    descriptors.reserveCapacity(4)
    descriptors.append((.disk, store.wakeDescriptor))
    if let number = store.watchDescriptor { descriptors.append((.folder, number)) }
    if let number = sharedPresence?.folder?.watchDescriptor {
      descriptors.append((.presence, number))
    }
    if let number = mirroring.mirror?.watcher?.descriptor { descriptors.append((.mirror, number)) }
    return descriptors
  }

  /// Acts on a descriptor that has become readable.
  public mutating func handleReady(_ source: Source) {
    schedule.noteOther()
    switch source {
    case .disk: takeDiskResult()
    case .folder: readNoticed()
    case .mirror: mirroring.mirror?.readReport()
    case .presence:
      if sharedPresence?.folder?.drainWatch() == true { sharedPresence!.noteFolder() }
    }
  }

  /// Notices what other processes have written, and merges it if a slice is enough. The rest is merged as background work.
  mutating func readNoticed() {
    let wasMerging = store?.isMerging == true
    store?.beginRefresh()
    if wasMerging { return }
    mergeSlice()
    push()
  }

  /// True if peers are away that are to be tried as soon as the network has changed.
  public var awaitsNetwork: Bool { peers.schedule.awaitsNetwork }

  /// Notes that the machine's network is another one, or is there again.
  public mutating func networkChanged() {
    schedule.noteOther()
    peers.schedule.wake()
  }

  // MARK: - Time

  /// The time that the client may take to read the rest after its input has ended.
  static let farewell = Duration.milliseconds(1500)
  /// The part of it that is left for reading when searches are given up.
  private static let searchless = Duration.milliseconds(500)
  /// The amount of memory that has to become free before it is given back to the system, in bytes.
  private static let muchMemory = 4 << 20
  /// The time that the process may take at its end to write an archive and to fold.
  private static let keepingTime = Duration.milliseconds(1200)
  /// The time that writing an archive may take, in times of opening the notebook: it spares the next start most of that.
  private static let keepingFactor = 4
  /// The time that the process may take at its end after all of `farewell` was used.
  private static let restTime = Duration.milliseconds(300)

  /// The latest time to call `advance` if nothing happens before; nil before the first call. If it has passed, call it at once.
  public var nextDeadline: ContinuousClock.Instant? { schedule.nextCall }

  /// True if nothing has happened since the last call of `advance` but changes that the client has made in its texts. What they make due may be
  /// done some milliseconds later: so the owner may read on for so long before it calls `advance`.
  public var isOnlyTyping: Bool { schedule.isOnlyTyping }

  /// True if background work was left at the last call of `advance`.
  public var isWorking: Bool { schedule.hasWork }

  /// Takes the time, and does everything that is due.
  ///
  /// Call it after anything has happened, and at `nextDeadline`. All deadlines count from times that were passed here: work that
  /// takes long counts as ended at the time of the next call.
  ///
  /// - Parameters:
  ///   - now: no earlier than in the call before.
  ///   - isIdle: whether nothing else has happened since the call before. Then background work goes on.
  public mutating func advance(to now: ContinuousClock.Instant, isIdle: Bool = false) {
    let now = schedule.instant(now)
    proceed()
    if connection.isPushHeldBack, connection.hasRoomForPushes { push() }
    if let parent = client.parentProcess, schedule.parent.isDue(at: now),
      !environment.isRunning(parent)
    {
      tellEnd(because: "The process \(parent) that initialize has named is gone")
      inputEnded()
    }
    rescan(at: now)
    retryRefused(at: now)
    if isPresenceDue(at: now) { readNoticed() }
    if let presence = sharePresence(at: now) {
      schedule.presence = presence.due
      if presence.isRead { push() }
    } else {
      schedule.presence = nil
    }
    wakeSchedule(at: now)
    schedule.exchanges = syncIfDue(at: now)
    schedule.links = tendLinks(at: now)
    schedule.follower = watchFollower(at: now)
    schedule.mirror = proceedWithMirror(at: now)
    work(at: now, isIdle: isIdle)
    // This comes after everything that may write, so that its data is put on disk in time.
    flush(at: now)
    schedule.seal = store?.sealIfDue(at: now)
    endIfDue(at: now)
    schedule.didAdvance(to: now)
  }

  /// Leaves when a client that follows has said nothing for so long that it must be gone.
  ///
  /// - Returns: when to call this again; nil if the client doesn't follow.
  mutating func watchFollower(at now: Instant) -> Instant? {
    guard client.follower != nil, !isOver else { return nil }
    let heard = client.follower!.heard ?? now
    client.follower!.heard = heard
    let due = heard + Follower.silence
    if now >= due {
      tellEnd(
        because:
          "The notebook that follows has said nothing for \(Follower.silence.components.seconds) seconds"
      )
      outputFailed()
    }
    return due
  }

  /// A process that is called this much later than it has asked for was stopped, or its machine slept.
  private static let sleep = Duration.seconds(2)

  /// After a sleep the peers that were away are tried at once.
  private mutating func wakeSchedule(at now: Instant) {
    guard let promised = schedule.promised, now > promised, now > promised + Self.sleep else {
      return
    }
    peers.schedule.wake()
  }

  private mutating func rescan(at now: Instant) {
    guard schedule.rescan.isDue(mustPoll: store?.mustPoll == true, at: now) else { return }
    store?.beginRescan()
    damageReports.isFullLook = true
    mergeSlice()
    push()
  }

  /// Finds out now and then whether a disk that has refused a change takes changes again.
  private mutating func retryRefused(at now: Instant) {
    guard schedule.isRefused else { return schedule.refusal.stop() }
    guard schedule.refusal.isDue(at: now) else { return }
    store?.tryAgain()
    reportRecovery()
  }

  /// Does a slice of background work, of a few milliseconds at most: merging first, then searches and the like, then files, then the index of links, then
  /// the other work of the store.
  private mutating func work(at now: Instant, isIdle: Bool) {
    let hasWork = hasWork
    let urgency = hasWork ? urgency : .upkeep
    guard schedule.work.isDue(urgency, isIdle: isIdle, at: now), hasWork else {
      schedule.hasWork = hasWork
      return
    }
    if store?.isMerging == true {
      mergeSlice()
      push()
    } else if !requests.lookups.isEmpty {
      proceedLookingUp()
    } else if !requests.fileTasks.isEmpty {
      proceedWithFiles()
    } else if indexing.isDue {
      proceedIndexing()
    } else {
      let effects = store?.work() ?? .init()
      if !effects.isEmpty {
        take(effects)
        push()
      }
    }
    schedule.work.didWork()
    returnMemory()
    schedule.hasWork = self.hasWork
  }

  /// The urgency of the background work that there is.
  private var urgency: WorkTimer.Urgency {
    if store?.isWorkUrgent == true { return .urgent }
    return requests.hasWork || store?.isWorkAwaited == true ? .awaited : .upkeep
  }

  private var hasWork: Bool {
    requests.hasWork || store?.hasWork == true || store != nil && indexing.isDue
  }

  /// Gives memory back to the system when much has become free. By itself the allocator keeps free memory between used pieces, and
  /// so nearly all memory that was ever used.
  private mutating func returnMemory() {
    guard let released = store?.released, released - schedule.returnedMemory > Self.muchMemory
    else { return }
    schedule.returnedMemory = released
    environment.returnMemory()
  }

  private mutating func flush(at now: Instant) {
    guard let store else { return }
    let isInDoubt = store.doubt != nil
    let state: FlushTimer.State =
      store.isDurable ? .durable : isInDoubt ? .inDoubt : .waiting
    if schedule.flush.isDue(state, at: now) { store.requestSync(isRetry: isInDoubt) }
  }

  /// Ends the process a while after the client's input has ended, whether or not the client has read everything.
  private mutating func endIfDue(at now: Instant) {
    guard isOver || connection.isInputOver || connection.hasInputHungUp else { return }
    let due = schedule.farewell ?? now + Self.farewell
    schedule.farewell = due
    if now >= due - Self.searchless { giveUpWork() }
    if now >= due, !connection.isOutputGone { outputFailed() }
  }

  /// Writes an archive for the next process, if enough is new. Call it at the end of the process.
  ///
  /// A process of one request finishes it, however long that takes: on a slower machine it would else be begun again by each one, and never be
  /// there. Any other has had time for it, unless it ends soon after it has opened the notebook.
  ///
  /// - Parameters:
  ///   - now: the present time.
  ///   - isInHaste: true if the process was told to end: then one of one request takes no longer than others.
  ///   - isStopped: true once it is told to end while it does this.
  public func keep(
    now: () -> ContinuousClock.Instant, inHaste isInHaste: Bool = false,
    until isStopped: () -> Bool = { false }
  ) {
    let start = now()
    var end = start + Self.keepingTime
    // If the client was given time to read, less is left.
    if let farewell = schedule.farewell {
      end = min(end, schedule.time(farewell + Self.restTime))
    }
    let isSingle = environment.isSingleRequest
    let last = max(end, start + schedule.openingTime * Self.keepingFactor)
    let isLimited = !isSingle || isInHaste
    store?.keep(
      folding: { isSingle && now() < end && !isStopped() }, inHaste: isLimited,
      while: { !isStopped() && (!isLimited || now() < last) })
  }
}
