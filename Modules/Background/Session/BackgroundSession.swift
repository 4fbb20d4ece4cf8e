public import FoundationEssentials
internal import LinnetReachability
public import LinnetSession
internal import Synchronization

/// Transfers that outlive the process.
///
/// ```swift
/// let background = try await BackgroundSession("models") { $0.maximumActive = 4 }
/// let task = try await background.download(api.get("llama.gguf"), to: file) { $0.sha256 = digest }
/// for await event in background.events { print(event.kind, event.task?.state ?? "") }
/// ```
/// The session keeps its tasks in a journal in its directory. When ``download(_:to:configure:)`` or
/// ``upload(_:fromFile:configure:)`` has returned, the task survives the end of the process, a crash and a power
/// failure: the next session with the identifier adopts it, and downloads go on from their parts.
///
/// A file appears at its destination complete and checked, or not at all. A download is sent again only for the bytes
/// that the part lacks; an upload is sent again from its beginning, so a server can receive it more than once.
///
/// One session transfers the tasks of a directory: the first that opens it. Others, in this process or in another, can
/// add, read and control tasks, and one of them goes on with the transfers when the first ends, however it ends; see
/// ``Configuration/Role``. The configuration of the session that transfers applies.
///
/// All functions may be called from any thread.
public final class BackgroundSession: Sendable {
    /// The directory of the journal. Only its owner can read it.
    public let directory: URL
    /// The session that sends the requests.
    public let session: HTTPSession

    let journal: Journal
    let folder: BackgroundFolder
    let configuration: Configuration
    let runner: Runner
    let feed: Feed
    let presence: Presence
    private let ownsSession: Bool
    private let isShutDown = Atomic(false)

    /// Opens the session of an identifier, adopts the tasks that an earlier process left, and begins to transfer them,
    /// unless another session of the directory already does.
    ///
    /// - Parameters:
    ///   - identifier: The name of the session's directory: 1 to 255 bytes without separators, not beginning with a
    ///     full stop.
    ///   - directory: Another directory for the session. The default is `linnet/background/IDENTIFIER` below
    ///     `$XDG_STATE_HOME`, which is `~/.local/state` by default. Missing directories are created with the
    ///     permissions 0700.
    ///   - configure: Changes the default configuration.
    /// - Throws: ``BackgroundError`` with ``BackgroundError/Code/invalidIdentifier``,
    ///   ``BackgroundError/Code/untrustedDirectory``, ``BackgroundError/Code/newerJournal``,
    ///   ``BackgroundError/Code/storageFailed``, or ``BackgroundError/Code/invalidOptions`` if `configure` throws.
    public init(
        _ identifier: String, directory: URL? = nil, configure: (inout Configuration) throws -> Void = { _ in }
    ) async throws(BackgroundError) {
        let place = if let directory { directory } else { try BackgroundFolder.directory(of: identifier) }
        let folder = try BackgroundFolder(place)
        var configuration = Configuration()
        do {
            try configure(&configuration)
            session = try configuration.session ?? Self.makeSession()
        } catch {
            throw BackgroundError(.invalidOptions, "The configuration cannot be used: \(error)", underlying: error)
        }
        ownsSession = configuration.session == nil
        let faults = FaultPoints(configuration.reachFaultPoint)
        let (journal, presence) = try await onFileThreads { () throws(BackgroundError) in
            try folder.prepare()
            return (try Journal.open(folder, faults: faults), try Presence(folder))
        }
        self.directory = URL(filePath: folder.path)
        self.folder = folder
        self.configuration = configuration
        self.journal = journal
        self.presence = presence
        feed = Feed(journal, isProgram: configuration.role == .program)
        let runner = Runner(
            journal: journal, folder: folder, session: session, configuration: configuration, feed: feed,
            presence: presence)
        self.runner = runner
        // Weak: the runner owns the presence, whose thread would otherwise keep both alive.
        try presence.start { [weak runner] news in
            Task { await runner?.hear(news) }
        }
        feed.open()
        try await runner.begin()
    }

    deinit {
        guard !isShutDown.load(ordering: .acquiring) else { return }
        Task { [runner, feed, presence, session, ownsSession] in
            await Self.end(runner, feed, presence, owned: ownsSession ? session : nil)
        }
    }

    /// Whether this session transfers the tasks of the directory.
    public var isRunner: Bool { get async { await runner.isRunner } }

    /// The damage that was found when this session opened its journal; nil if there was none. The damaged journal was
    /// renamed to `journal.sqlite.damaged`, and the new one has the downloads that were begun. Tasks that were not
    /// begun, and uploads, are lost.
    public var journalDamage: BackgroundError? { journal.damage }

    /// The events of all tasks, from now on. The first sequence begins with the adopted tasks, which end with
    /// ``BackgroundEvent/Kind/didFinishEvents``. It ends when the session is shut down.
    ///
    /// A slow reader misses progress, and after 10,000 unread events the oldest ones; never the last state of a task
    /// that it reads with ``tasks``.
    public var events: EventSequence<BackgroundEvent> { feed.events(withBacklog: true) }

    /// Stops the transfers, which go on when the directory is next opened, and returns when this session has left the
    /// directory. Later calls fail with ``BackgroundError/Code/shutDown``.
    ///
    /// A session that is released without a call does the same, some time later.
    public func shutdown() async {
        guard isShutDown.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged
        else { return }
        await Self.end(runner, feed, presence, owned: ownsSession ? session : nil)
    }

    private static func end(_ runner: Runner, _ feed: Feed, _ presence: Presence, owned session: HTTPSession?) async {
        await runner.end()
        presence.leave()
        await feed.pull()
        feed.finish()
        await session?.shutdown(.immediate)
        session?.reachabilityMonitor?.stop()
    }

    /// A session that knows the network. Without a monitor, which a sandbox can forbid, requests fail and are repeated
    /// instead.
    private static func makeSession() throws(SessionError) -> HTTPSession {
        try HTTPSession { $0.reachabilityMonitor = try? ReachabilityMonitor() }
    }

    func checkIsOpen() throws(BackgroundError) {
        if isShutDown.load(ordering: .acquiring) { throw .shutDown }
    }
}
