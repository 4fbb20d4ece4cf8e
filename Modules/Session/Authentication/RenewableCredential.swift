internal import FoundationEssentials
internal import HTTPTypes
public import LinnetMessages
internal import LinnetSerialization
internal import Synchronization

/// A credential that requests share, and that is renewed once for all of them.
///
/// ```swift
/// let authenticator = TokenAuthenticator(issuer: issuer.post("token"))
/// let token = RenewableCredential(authenticator, stored, for: [Origin("https://api.example.com")!])
/// let api = try HTTPSession { $0.authenticator = .renewing(token) }
/// ```
/// A request to one of the origins is sent with the credential, on each hop of its redirects. If the credential is
/// missing, was refused, or needs a renewal, the request waits for the renewal, which runs once for all requests that
/// wait:
/// - A request that was refused with an earlier credential is sent again with the present one, without a renewal.
/// - If a credential is refused that was renewed for the request, the refusal is its response.
/// - Waiting counts against the timeout of the request. A request that is cancelled or reaches its timeout stops
///   waiting at once; the last one that stops cancels the renewal.
/// - A failed renewal fails the requests that wait, and is not repeated for them. The refused credential is not sent
///   again: the next request begins with a renewal.
/// - Beyond ``renewalLimit`` renewals begun within ``renewalWindow``, requests fail without another one.
/// - A refused request whose body cannot be read again fails with ``SessionError/Code/requestBodyFailed``, before a
///   renewal.
///
/// A request with an Authorization field or a user name of its own is not changed. Sessions can share a credential.
public final class RenewableCredential<Rules: Authenticator>: Sendable {
    /// A request that waits.
    private struct Waiter {
        let url: URL
        let continuation: CheckedContinuation<Result<Void, SessionError>, Never>

        /// Ends the wait. An error of the renewal, which all waiters share, gets the URL of the waiter's request.
        func end(_ outcome: Result<Void, SessionError>) {
            let url = url
            continuation.resume(
                returning: outcome.mapError { error in
                    var error = error
                    error.url = url
                    return error
                })
        }
    }

    private struct State {
        var credential: Rules.Credential?
        /// Increases with each new credential.
        var version: UInt64 = 0
        /// Whether a server refused the credential.
        var isRefused = false
        var renewal: Renewal?
        /// When the renewals of the window began.
        var beginnings: [ContinuousClock.Instant] = []
        var lastID: UInt64 = 0

        mutating func nextID() -> UInt64 {
            lastID += 1
            return lastID
        }

        /// Returns the former credential, to be released after unlocking.
        mutating func replace(with credential: Rules.Credential?) -> Rules.Credential? {
            defer { self.credential = credential }
            version += 1
            isRefused = false
            return self.credential
        }
    }

    private struct Renewal {
        let id: UInt64
        /// The version of the credential that is renewed.
        let version: UInt64
        var task: Task<Void, Never>?
        var isCancelled = false
        var waiters: [UInt64: Waiter] = [:]
    }

    /// The rules of the credential.
    public let authenticator: Rules
    /// The origins whose requests have the credential.
    public let origins: Set<Origin>
    /// The maximum number of renewals that begin within ``renewalWindow``. The default is 5. Exceeding it is
    /// ``SessionError/Code/credentialRenewalFailed``.
    public let renewalLimit: Int
    /// The duration for which renewals are counted.
    public let renewalWindow: Duration

    private let state: Mutex<State>
    private let now: @Sendable () -> ContinuousClock.Instant

    /// The present credential; nil before the first renewal, or after it was removed. A new value ends no request: a
    /// renewal that runs is continued, and its result is dropped.
    public var credential: Rules.Credential? {
        get { state.withLock(\.credential) }
        set {
            let former = state.withLock { $0.replace(with: newValue) }
            // Released after unlocking, since it is the program's.
            withExtendedLifetime(former) {}
        }
    }

    /// The number of requests that wait for the renewal.
    var waiterCount: Int { state.withLock { $0.renewal?.waiters.count ?? 0 } }

    /// Creates a credential.
    ///
    /// - Parameters:
    ///   - authenticator: The rules of the credential.
    ///   - credential: The present value, such as a stored one. The default is nil: the first request gets one by a
    ///     renewal.
    ///   - origins: The origins whose requests have the credential. No other origin receives it, also after a redirect.
    ///   - renewalLimit: The maximum number of renewals that begin within `renewalWindow`, at least 1. The default is 5.
    ///   - renewalWindow: The duration for which renewals are counted. The default is 30 seconds.
    public convenience init(
        _ authenticator: Rules, _ credential: Rules.Credential? = nil, for origins: some Sequence<Origin>,
        renewalLimit: Int = 5, renewalWindow: Duration = .seconds(30)
    ) {
        self.init(
            authenticator, credential, origins: Set(origins), renewalLimit: renewalLimit, renewalWindow: renewalWindow,
            now: { .now })
    }

    init(
        _ authenticator: Rules, _ credential: Rules.Credential?, origins: Set<Origin>, renewalLimit: Int,
        renewalWindow: Duration, now: @escaping @Sendable () -> ContinuousClock.Instant
    ) {
        self.authenticator = authenticator
        self.origins = origins
        self.renewalLimit = max(1, renewalLimit)
        self.renewalWindow = renewalWindow
        self.now = now
        state = Mutex(State(credential: credential))
    }
}

extension RenewableCredential: RenewableCredentialSource {
    func covers(_ origin: Origin) -> Bool { origins.contains(origin) && RenewalMark.current !== self }

    func isRefusal(_ response: HTTPResponse) -> Bool { authenticator.isRefusal(response) }

    func authorize(
        _ request: inout SessionRequest, afterRenewal isRenewed: Bool
    ) throws -> CredentialUse {
        let (credential, version, isRefused) = state.withLock { ($0.credential, $0.version, $0.isRefused) }
        guard let credential else { return .needsRenewal(version) }
        // A credential that was just renewed is sent whatever its rules say of it.
        if !isRenewed, isRefused || authenticator.needsRenewal(credential) { return .needsRenewal(version) }
        try authenticator.apply(credential, to: &request)
        return .applied(version)
    }

    func refuse(_ version: UInt64) {
        // The refusal of an earlier credential says nothing about the present one.
        state.withLock { if $0.version == version { $0.isRefused = true } }
    }

    func renew(after version: UInt64, for url: URL) async throws(SessionError) {
        let id = state.withLock { $0.nextID() }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { join(id, after: version, Waiter(url: url, continuation: $0)) }
        } onCancel: {
            leave(id)
        }
        try outcome.get()
    }

    /// Makes a request wait for the renewal, which is begun unless it runs.
    private func join(_ id: UInt64, after version: UInt64, _ waiter: Waiter) {
        let outcome: Result<Void, SessionError>? = state.withLock { state in
            // The cancellation handler may have run before the waiter existed.
            if Task.isCancelled { return .failure(.cancelled(waiter.url)) }
            if state.renewal != nil {
                state.renewal?.waiters[id] = waiter
                return nil
            }
            // A renewal has ended since the request asked for one.
            if state.version != version, state.credential != nil, !state.isRefused { return .success(()) }
            return begin([id: waiter], &state).map { .failure($0) }
        }
        if let outcome { waiter.end(outcome) }
    }

    /// Begins a renewal, or returns an error if there were too many.
    private func begin(_ waiters: [UInt64: Waiter], _ state: inout State) -> SessionError? {
        let time = now()
        state.beginnings.removeAll { $0.duration(to: time) >= renewalWindow }
        guard state.beginnings.count < renewalLimit else {
            return SessionError(
                .credentialRenewalFailed,
                "The credential was renewed \(renewalLimit) times within \(renewalWindow), which is the limit.")
        }
        state.beginnings.append(time)
        let (renewal, credential) = (state.nextID(), state.credential)
        state.renewal = Renewal(id: renewal, version: state.version, waiters: waiters)
        // It cannot reach its end before the lock is released.
        state.renewal?.task = Task {
            do {
                let new = try await RenewalMark.$current.withValue(self) { try await authenticator.renew(credential) }
                end(renewal, with: .success(new))
            } catch {
                end(renewal, with: .failure(error))
            }
        }
        return nil
    }

    private func end(_ id: UInt64, with result: Result<Rules.Credential, any Error>) {
        var former: Rules.Credential?
        let (waiters, outcome): ([Waiter], Result<Void, SessionError>) = state.withLock { state in
            guard let renewal = state.renewal, renewal.id == id else { return ([], .success(())) }
            state.renewal = nil
            let waiters = Array(renewal.waiters.values)
            switch result {
            case .success(let credential):
                // A credential that was set meanwhile is newer.
                if state.version == renewal.version { former = state.replace(with: credential) }
                return (waiters, .success(()))
            // A credential that was set meanwhile needs no renewal, and requests wait for it no longer.
            case .failure where state.version != renewal.version && state.credential != nil && !state.isRefused:
                return (waiters, .success(()))
            case .failure(let error):
                // Requests that came after the cancellation did not cause it.
                if renewal.isCancelled, !waiters.isEmpty {
                    guard let error = begin(renewal.waiters, &state) else { return ([], .success(())) }
                    return (waiters, .failure(error))
                }
                return (waiters, .failure(.renewalFailed(error)))
            }
        }
        withExtendedLifetime(former) {}
        for waiter in waiters { waiter.end(outcome) }
    }

    /// Ends the wait of a request. The last one cancels the renewal, which still ends before the next one begins, since
    /// a refresh token may be used once.
    private func leave(_ id: UInt64) {
        let (waiter, task) = state.withLock { state in
            let waiter = state.renewal?.waiters.removeValue(forKey: id)
            guard waiter != nil, state.renewal?.waiters.isEmpty == true else {
                return (waiter, Task<Void, Never>?.none)
            }
            state.renewal?.isCancelled = true
            return (waiter, state.renewal?.task)
        }
        task?.cancel()
        if let waiter { waiter.end(.failure(.cancelled(waiter.url))) }
    }
}

/// The use of a credential in a request.
enum CredentialUse: Sendable, Equatable {
    /// The request has the credential of this version.
    case applied(UInt64)
    /// The credential of this version must be renewed first.
    case needsRenewal(UInt64)
}

/// A ``RenewableCredential`` as the chain sees it.
protocol RenewableCredentialSource: AnyObject, Sendable {
    /// Whether requests to an origin have the credential. The requests of a renewal have none.
    func covers(_ origin: Origin) -> Bool
    func isRefusal(_ response: HTTPResponse) -> Bool
    /// Adds the credential to a request, unless it must be renewed.
    func authorize(_ request: inout SessionRequest, afterRenewal isRenewed: Bool) throws -> CredentialUse
    /// Notes that a server refused the credential of a version.
    func refuse(_ version: UInt64)
    /// Waits until there is a credential newer than a version.
    func renew(after version: UInt64, for url: URL) async throws(SessionError)
}

/// Marks the tasks of a renewal.
private enum RenewalMark {
    @TaskLocal static var current: (any RenewableCredentialSource)?
}

extension SessionError {
    fileprivate static func renewalFailed(_ error: any Error) -> SessionError {
        SessionError(
            .credentialRenewalFailed, "The credential could not be renewed: \(cause(error))", underlying: error)
    }
}
