internal import FoundationEssentials
internal import HTTPTypes
public import LinnetMessages
internal import LinnetSerialization
internal import Synchronization

/// Stores credentials in memory, each for one protection space, and uses them only for requests to the space's origin.
///
/// ```swift
/// let credentials = CredentialStore()
/// try credentials.set(.basic(username: "ada", password: password), for: ProtectionSpace(origin: Origin(url)))
/// let session = try HTTPSession { $0.credentialStore = credentials }
/// ```
/// Sessions may share a store. Nothing is written to disk.
public final class CredentialStore: Sendable {
    private let table = Mutex(CredentialTable())

    /// Creates an empty store.
    public init() {}

    /// Stores a credential for a space, replacing the one for the same scheme.
    ///
    /// It is sent when the server's challenge has its scheme and realm. Once a Basic credential was accepted, it is also sent
    /// with later requests to the same folder and the folders below it (RFC 7617, section 2.2).
    ///
    /// - Parameters:
    ///   - credential: The credential.
    ///   - space: The protection space to which the credential applies.
    ///   - preemptively: Whether the credential is sent with every request to the space's origin, before a challenge. The
    ///     default is false.
    public func set(_ credential: Credential, for space: ProtectionSpace, preemptively: Bool = false) {
        table.withLock { $0.add(credential, for: space, withoutBeingAsked: preemptively) }
    }

    /// Removes the credentials of a space.
    public func removeCredentials(for space: ProtectionSpace) {
        table.withLock { $0.remove(space) }
    }

    /// Removes all credentials.
    public func removeAll() {
        table.withLock { $0 = CredentialTable() }
    }

    /// Returns the credential for a challenge, or nil if there is none for its scheme, its realm and the origin.
    public func credential(for challenge: AuthenticationChallenge, of origin: Origin) -> Credential? {
        table.withLock { $0.credential(for: challenge, of: origin) }
    }

    func credential(before target: RequestTarget) -> Credential? {
        table.withLock { $0.credential(at: target.pathAlone, of: target.origin) }
    }

    func accepted(_ credential: Credential, at target: RequestTarget) {
        table.withLock { $0.accepted(credential, at: target.pathAlone, of: target.origin) }
    }

    func refused(_ credential: Credential, at target: RequestTarget) {
        table.withLock { $0.refused(credential, of: target.origin) }
    }
}

/// A user name and a password, or a token. Its description shows no secret.
public struct Credential: Sendable, Hashable {
    /// The authentication scheme, in lower case.
    public let scheme: String
    /// The value of the Authorization field.
    let authorization: String

    /// Creates a credential for Basic (RFC 7617), in UTF-8.
    ///
    /// - Throws: A `SessionError` with ``SessionError/Code/invalidRequest`` when the user name contains a colon, or the user name
    /// or the password contains a control character.
    public static func basic(username: String, password: String) throws(SessionError) -> Credential {
        try make("basic") { (fields: inout HTTPFields) throws(SerializationError) in
            try fields.setBasicAuthorization(username: username, password: password)
        }
    }

    /// Creates a credential for Bearer (RFC 6750).
    ///
    /// - Throws: A `SessionError` with ``SessionError/Code/invalidRequest`` when the token contains a character that the scheme
    /// does not allow.
    public static func bearer(token: String) throws(SessionError) -> Credential {
        try make("bearer") { (fields: inout HTTPFields) throws(SerializationError) in
            try fields.setBearerAuthorization(token: token)
        }
    }

    private static func make(
        _ scheme: String, _ set: (inout HTTPFields) throws(SerializationError) -> Void
    ) throws(SessionError) -> Credential {
        var fields = HTTPFields()
        do {
            try set(&fields)
        } catch {
            throw SessionError(error, url: nil)
        }
        return Credential(scheme: scheme, authorization: fields[.authorization] ?? "")
    }
}

extension Credential: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The scheme, without the secret.
    public var description: String { "Credential(\(scheme))" }
    /// The scheme, without the secret.
    public var debugDescription: String { description }
    /// The scheme, without the secret.
    public var customMirror: Mirror { Mirror(self, children: ["scheme": scheme]) }
}

/// A realm of an origin, to which a credential applies (RFC 9110, section 11.5).
public struct ProtectionSpace: Sendable, Hashable {
    /// The origin: scheme, host and port.
    public var origin: Origin
    /// The realm. Nil matches every realm of the origin that has no credential of its own.
    public var realm: String?

    /// Creates a space. The default realm is nil, which matches every realm.
    public init(origin: Origin, realm: String? = nil) {
        self.origin = origin
        self.realm = realm
    }
}

/// The credentials by protection space: a value guarded by the store's lock.
struct CredentialTable {
    private struct Key: Hashable {
        var space: ProtectionSpace
        var scheme: String
    }

    /// A credential that the server has accepted, and the folder below which it is sent without a challenge.
    private struct Learned {
        var folder: Substring
        var credential: Credential
    }

    /// The maximum number of folders remembered for one origin.
    private static let learnedLimit = 64

    private var credentials: [Key: Credential] = [:]
    private var unasked: [Origin: Credential] = [:]
    private var learned: [Origin: [Learned]] = [:]

    mutating func add(_ credential: Credential, for space: ProtectionSpace, withoutBeingAsked: Bool) {
        let old = credentials.updateValue(credential, forKey: Key(space: space, scheme: credential.scheme))
        if let old, old != credential { forget(old, space.origin) }
        if withoutBeingAsked { unasked[space.origin] = credential }
    }

    mutating func remove(_ space: ProtectionSpace) {
        for (key, credential) in credentials where key.space == space {
            credentials[key] = nil
            forget(credential, space.origin)
        }
    }

    /// Returns the credential for a challenge: the one for its realm, or else the one for its origin.
    func credential(for challenge: AuthenticationChallenge, of origin: Origin) -> Credential? {
        let exact = ProtectionSpace(origin: origin, realm: challenge.realm)
        return credentials[Key(space: exact, scheme: challenge.scheme)]
            ?? credentials[Key(space: ProtectionSpace(origin: origin), scheme: challenge.scheme)]
    }

    /// Returns the credential to send before any challenge.
    func credential(at path: Substring, of origin: Origin) -> Credential? {
        if let credential = unasked[origin] { return credential }
        return learned[origin]?.filter { path.hasPrefix($0.folder) }.max { $0.folder.count < $1.folder.count }?
            .credential
    }

    /// Records an accepted credential. Basic applies to all paths in the folder of the accepted one (RFC 7617, section 2.2).
    mutating func accepted(_ credential: Credential, at path: Substring, of origin: Origin) {
        // A hook can answer with the credential of another origin, which is not sent here again without being asked for.
        guard credential.scheme == "basic",
            credentials.contains(where: { $0.key.space.origin == origin && $0.value == credential })
        else { return }
        let folder = path.lastIndex(of: "/").map { path[...$0] } ?? path
        var known = learned[origin, default: []].filter { !$0.folder.hasPrefix(folder) }
        known.append(Learned(folder: folder, credential: credential))
        learned[origin] = Array(known.suffix(Self.learnedLimit))
    }

    /// Records a refused credential, which is then no longer sent without a challenge.
    mutating func refused(_ credential: Credential, of origin: Origin) {
        learned[origin]?.removeAll { $0.credential == credential }
    }

    private mutating func forget(_ credential: Credential, _ origin: Origin) {
        if unasked[origin] == credential { unasked[origin] = nil }
        refused(credential, of: origin)
    }
}
