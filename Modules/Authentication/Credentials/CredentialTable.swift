internal import LinnetMessages

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
