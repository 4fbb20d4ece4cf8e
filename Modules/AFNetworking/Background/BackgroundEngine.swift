package import FoundationEssentials
package import LinnetSession

/// The part of a configuration that makes its session a background session. LinnetAFNetworkingBackground creates it, so
/// a program that does not import that module links no database, and cannot have such a configuration.
package struct BackgroundSettings: Sendable {
    /// The name of the session.
    package var identifier: String
    /// The directory of the session; nil for the usual one of the identifier.
    package var directory: URL?
    /// Whether credentials of requests are stored.
    package var storesSecrets = false
    /// Whether the tasks give way to others.
    package var isDiscretionary = false
    /// Makes the engine of a session, which is not open yet.
    package let makeEngine: @Sendable (BackgroundSettings, HTTPSession, @escaping BlockExecutor) -> any BackgroundEngine

    package init(
        identifier: String,
        makeEngine:
            @escaping @Sendable (BackgroundSettings, HTTPSession, @escaping BlockExecutor)
            -> any BackgroundEngine
    ) {
        self.identifier = identifier
        self.makeEngine = makeEngine
    }
}

/// Runs functions one after the other, on the queue of a session.
package typealias BlockExecutor = @Sendable (@escaping @Sendable () -> Void) -> Void

/// Stores and transfers the tasks of a background session.
///
/// Its functions return at once, and are performed in the order of the calls.
package protocol BackgroundEngine: AnyObject, Sendable {
    /// Opens the session.
    ///
    /// - Parameter adopt: Receives the tasks of an earlier process: once, also if there are none, or if the session
    ///   cannot be opened. Their ends are reported after it has returned.
    func open(adopt: @escaping @Sendable ([BackgroundTransfer]) -> Void)
    /// Opens the session now, and waits until the tasks of an earlier process are known; not while another process has
    /// the session, and for ten seconds at most.
    func waitForAdoption()
    /// Stores a transfer, and begins it.
    func add(_ transfer: BackgroundTransfer)
    /// Lets a suspended transfer go on.
    func resume(_ transfer: BackgroundTransfer)
    /// Suspends a transfer.
    func suspend(_ transfer: BackgroundTransfer)
    /// Cancels a transfer, which ends.
    func cancel(_ transfer: BackgroundTransfer)
    /// Forgets the ended transfer with a number. Until then, its end is reported to the next process as well.
    func remove(_ number: Int)
    /// Closes the session, and then calls a function.
    func close(_ ending: BackgroundEnding, then: @escaping @Sendable () -> Void)
}

/// The treatment of the tasks of a background session when it is closed.
package enum BackgroundEnding: Sendable {
    /// They are cancelled.
    case cancelling
    /// The session waits for their ends.
    case finishing
    /// They remain stored, for the next session.
    case leaving
}
