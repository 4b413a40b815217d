internal import Bytes
internal import JSONRPC
internal import NoteStore
internal import Notes
internal import ReplicatingTypes

// Links that stand. At our end of one the peer is a server (`StandingLink`); at the other end of one the client is another notebook's
// process that follows this one (`Follower`). Both are told what is new by `push`, which comes after everything that may have
// changed the notebook.

extension NotesServer {
  // MARK: - Our end

  /// Keeps the link of an exchange that is complete; the request is answered.
  mutating func stand(_ id: Int) {
    guard let exchange = exchanges[id] else { return }
    exchanges[id]?.link = StandingLink(
      knowing: exchange.exchange.theirs, progress: exchange.progress)
    answer(exchange, .done)
    exchanges[id]?.request = nil
    record(.done, of: exchanges[id]!)
    peers.schedule.stands(exchange.peer)
    peers.states.setLive(exchange.peer, true)
    tellPeer(id)
    beginSharingPresence()
    sharedPresence?.begin(.link(id))
  }

  /// Tells the peers of all links what is new.
  mutating func tellPeers() {
    for (id, exchange) in exchanges where exchange.isStanding { tellPeer(id) }
  }

  private mutating func tellPeer(_ id: Int) {
    guard let store, let identity = store.identity else { return }
    while let link = exchanges[id]?.link, link.hasRoom {
      // If the archive can't be read now, this is tried again after the next event.
      guard
        let piece = try? store.recall({ book throws(ArchiveFailure) in
          try exchanges[id]!.link!.listener.next(of: book, limit: environment.syncPiece)
        })
      else { return }
      exchanges[id]!.link!.didSend()
      exchanges[id]!.wire.send(.merge(piece.encoded(of: identity), isAdopting: false))
    }
  }

  /// Takes an event of the peer of a link.
  mutating func take(_ event: PeerExchange.Event, ofLink id: Int) {
    let peer = exchanges[id]?.peer ?? ""
    switch event {
    case .arrived(let changes):
      do throws(ResponseError) {
        let merged = try merge(changes: changes)
        exchanges[id]?.link?.listener.learn(merged.version)
        noteReached(id)
        reportDamage(afterFullLook: false)
      } catch {
        // What fails here is no fault of the peer.
        let isTheirs = error.reason.map(Self.reasonsOfChanges.contains) ?? true
        let reason = isTheirs ? "badPeer" : error.reason!
        end(id, .failure(.requestFailed(reason, "\(peer): \(error.message)")))
      }
    case .accepted:
      exchanges[id]?.link?.didAccept()
      if exchanges[id]?.link?.underWay == 0 { noteReached(id) }
      tellPeer(id)
    case .alive(let revision, let digest):
      note(revision, digest, ofLink: id)
    case .presence(let content):
      guard sharedPresence?.take(content, from: .link(id)) == false else { return }
      end(
        id, .failure(.requestFailed("badPeer", "\(peer): what it tells of participants is damaged"))
      )
    case .failed(_, let message):
      end(
        id,
        .failure(.requestFailed("peerFailed", "\(peer): \(message?.prefix(1000) ?? "an error")")))
    case .violated(let detail):
      end(
        id,
        .failure(.requestFailed("badPeer", "\(peer): this does not speak our protocol: \(detail)")))
    case .ended(let failure):
      end(
        id,
        .failure(.requestFailed("peerUnreachable", "\(peer): \(failure ?? "the link has ended")")))
    default: break
    }
  }

  /// The reasons that lie in changes themselves.
  private static let reasonsOfChanges: Set<String> = [
    "damagedChanges", "foreignNotebook", "invalidChanges", "missingChanges", "newerChanges",
  ]

  /// Notes what the peer of a link knows. Where that has the same name here and is something else, an exchange finds out what.
  private mutating func note(_ revision: String, _ digest: UInt64?, ofLink id: Int) {
    guard let peer = exchanges[id]?.peer else { return }
    noteReached(id)
    guard let digest, revision == self.revision, let ours = try? self.digest(of: book.version),
      ours != digest
    else { return }
    end(
      id,
      .failure(
        .requestFailed("peerFailed", "\(peer): other changes are known there under the same names"))
    )
  }

  private mutating func noteReached(_ id: Int) {
    guard let exchange = exchanges[id], let link = exchange.link else { return }
    let version = link.listener.known
    peers.states.exchanged(with: exchange.peer, version: version, at: environment.now())
  }

  /// Asks the peers of links whether they are there, and gives up those that don't answer.
  ///
  /// - Returns: when to call this again; nil while no link stands.
  mutating func tendLinks(at now: Instant) -> Instant? {
    var next: Instant?
    for id in exchanges.keys.sorted() where exchanges[id]!.isStanding {
      if let due = peers.schedule.lasting(of: exchanges[id]!.peer) {
        if now < due {
          next = min(next ?? due, due)
        } else if peers.schedule.lasted(exchanges[id]!.peer) {
          logMessage(.info, "\(exchanges[id]!.peer): can be reached again")
          connection.flushNotifications()
        }
      }
      switch exchanges[id]!.link!.turn(at: now, exchanges[id]!.progress) {
      case .wait(let due): next = min(next ?? due, due)
      case .ask:
        exchanges[id]!.wire.send(.pulse)
        next = now
      case .giveUp:
        let message = "\(exchanges[id]!.peer): no answer for 30 seconds"
        end(id, .failure(.requestFailed("peerUnreachable", message)))
        next = now
      }
    }
    return next
  }

  // MARK: - The other end

  /// Tells a client that follows what is new here, as far as there is room.
  mutating func tellFollower() {
    guard client.follower != nil, let store, let identity = store.identity else { return }
    while connection.hasRoomForPushes {
      guard
        let piece = try? store.recall({ book throws(ArchiveFailure) in
          try client.follower!.listener.next(of: book, limit: environment.syncPiece)
        })
      else { return }
      let bytes = piece.encoded(of: identity)
      var offset = 0
      // One change may be longer than a message.
      repeat {
        let end = min(bytes.count, offset + IncomingChanges.partSize)
        currentOutbox.notify("notebook/newChanges") {
          $0.beginObject()
          $0.member("changes", Base64.encode(Array(bytes[offset..<end])))
          if bytes.count > IncomingChanges.partSize {
            $0.member("offset", offset)
            $0.member("size", bytes.count)
          }
          $0.endObject()
        }
        offset = end
      } while offset < bytes.count
    }
    connection.isPushHeldBack = true
  }
}
