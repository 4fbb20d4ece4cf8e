internal import FoundationEssentials

/// A policy's document with those that it includes, and where they came from.
///
/// ```swift
/// let file = try SecurityPolicyFile(contentsOf: "/etc/app/policy.json")
/// for finding in file.findings(at: Date()) { print(finding) }
/// let policy = try file.makePolicy()
/// ```
public struct SecurityPolicyFile: Sendable {
    /// One document, and the folder to which its paths are relative.
    public struct Part: Sendable {
        /// The file's path; nil for a document that was made in code.
        public var path: String?
        /// Where its relative paths begin.
        public var folder: String
        /// What it says.
        public var document: SecurityPolicyDocument
    }

    /// The file itself, then those that it includes, each before those that it includes in turn.
    public let parts: [Part]

    private static let mostFiles = 64

    /// Reads a file and those that it includes.
    ///
    /// Fails as ``SecurityPolicyDocument/init(json:)`` does, with ``SecurityError/Code/cannotReadFile``, and with
    /// ``SecurityError/Code/includeLoop`` when a file includes itself, also over others, or there are more than 64.
    public init(contentsOf path: String) throws(SecurityError) {
        parts = try Self.load(path, within: [], at: "")
        try checkCount()
    }

    /// Takes a document, and reads what it includes.
    ///
    /// Fails as ``init(contentsOf:)`` does.
    public init(_ document: SecurityPolicyDocument, folder: String = ".") throws(SecurityError) {
        parts = try Self.expand(Part(path: nil, folder: folder, document: document), within: [])
        try checkCount()
    }

    private func checkCount() throws(SecurityError) {
        guard parts.count <= Self.mostFiles else { throw Self.tooMany }
    }

    private static var tooMany: SecurityError {
        SecurityError(.includeLoop, "More than \(mostFiles) files are included.", path: "includes")
    }

    private static func load(
        _ path: String, within outer: [String], at place: String
    ) throws(SecurityError) -> [Part] {
        let resolved = URL(filePath: path).resolvingSymlinksInPath().standardized.path
        guard !outer.contains(resolved) else {
            throw SecurityError(.includeLoop, "\"\(path.oneLine)\" includes itself.", path: place)
        }
        let part = Part(
            path: path, folder: URL(filePath: path).deletingLastPathComponent().path, document: try document(path))
        return try expand(part, within: outer + [resolved])
    }

    private static func expand(_ part: Part, within outer: [String]) throws(SecurityError) -> [Part] {
        guard outer.count <= mostFiles else { throw tooMany }
        var parts = [part]
        for (index, include) in part.document.includes.enumerated() {
            let path = resolve(include, in: part.folder)
            let more = try load(path, within: outer, at: "includes[\(index)]")
            for other in more where other.document.otherHosts != nil {
                throw SecurityError(
                    .unenforceablePolicy,
                    "\"\((other.path ?? path).oneLine)\" is included, so it must not speak of other hosts.",
                    path: "includes[\(index)]")
            }
            parts += more
            guard parts.count <= mostFiles else { throw tooMany }
        }
        return parts
    }

    static func resolve(_ path: String, in folder: String) -> String {
        path.hasPrefix("/") ? path : folder + "/" + path
    }

    private static func document(_ path: String) throws(SecurityError) -> SecurityPolicyDocument {
        let size = FileSize.ofRegularFile(path) ?? 0
        guard size <= PolicyDecoding.largestFile else {
            throw SecurityError(
                .invalidPolicyFile, "\"\(path.oneLine)\" has more than \(PolicyDecoding.largestFile) bytes.", path: "")
        }
        guard size > 0, let data = try? Data(contentsOf: URL(filePath: path)) else {
            throw SecurityError(.cannotReadFile, "\"\(path.oneLine)\" is no file that can be read, or is empty.")
        }
        do {
            return try SecurityPolicyDocument(json: data)
        } catch {
            throw SecurityError(error.code, "\(error.message) (\"\(path.oneLine)\")", path: error.path)
        }
    }

    /// Makes the policy.
    ///
    /// Fails with ``SecurityError/Code/invalidPattern``, ``SecurityError/Code/invalidPin``, ``SecurityError/Code/noPins``,
    /// ``SecurityError/Code/duplicateRule``, ``SecurityError/Code/missingPolicyKey``,
    /// ``SecurityError/Code/unenforceablePolicy``, and as ``TrustAnchors/file(_:)`` does; ``SecurityError/path`` says where.
    public func makePolicy() throws(SecurityError) -> SecurityPolicy {
        var rules: [HostRule] = []
        var patterns: Set<HostPattern> = []
        for reader in ruleReaders() {
            for (index, rule) in try reader.rules().enumerated() {
                guard patterns.insert(rule.pattern).inserted else {
                    throw SecurityError(
                        .duplicateRule, "There are two rules for \"\(rule.pattern)\".",
                        path: "\(reader.path).hosts[\(index)]")
                }
                rules.append(rule)
            }
        }
        let refuses = parts.first?.document.otherHosts == .refuse
        return try SecurityPolicy(rules: rules, otherHosts: refuses ? RefusingEvaluator() : SystemTrustEvaluator())
    }

    func ruleReaders() -> [PolicyRuleReader] {
        parts.flatMap { part in
            part.document.rules.enumerated().map { index, rule in
                PolicyRuleReader(rule: rule, path: "rules[\(index)]", file: part.path, folder: part.folder)
            }
        }
    }
}

extension SecurityPolicy {
    /// The policy of a file; see ``SecurityPolicyDocument`` for its form.
    ///
    /// Fails as ``SecurityPolicyFile/init(contentsOf:)`` and ``SecurityPolicyFile/makePolicy()`` do.
    public static func file(_ path: String) throws(SecurityError) -> SecurityPolicy {
        try SecurityPolicyFile(contentsOf: path).makePolicy()
    }
}
