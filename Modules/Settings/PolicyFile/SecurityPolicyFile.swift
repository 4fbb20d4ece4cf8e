internal import FoundationEssentials
internal import LinnetMessages
public import LinnetSecurity

/// A policy file together with the files that it includes.
///
/// ```swift
/// let file = try SecurityPolicyFile(contentsOf: "/etc/app/policy.json")
/// for finding in file.findings(at: Date()) { print(finding) }
/// let policy = try file.makePolicy()
/// ```
public struct SecurityPolicyFile: Sendable {
    /// One document and its origin.
    struct Part: Sendable {
        /// The path of the file; nil for a document made in code.
        var path: String?
        /// The directory that the document's paths are relative to.
        var folder: String
        var document: SecurityPolicyDocument
        /// The lines of the file; nil for a document made in code.
        var text: PolicyText?

        /// The error with its location.
        func locate(_ error: SecurityError, at place: String) -> SecurityError {
            var error = error
            (error.file, error.line, error.path) = (path, text?.line(of: place), place)
            return error
        }
    }

    /// The file itself, then the included files, each before the files that it includes.
    let parts: [Part]

    private static let mostFiles = 64

    /// Reads a file and the files that it includes.
    ///
    /// - Throws: The errors of ``SecurityPolicyDocument/init(json:)``; `SecurityError.Code.cannotReadFile`;
    ///   `SecurityError.Code.includeLoop` if a file includes itself, directly or not, or more than 64 are included.
    ///   `SecurityError.file`, `SecurityError.line` and `SecurityError.path` give the location.
    public init(contentsOf path: String) throws(SecurityError) {
        parts = try Self.expand(Self.part(path), within: [Self.resolved(path)])
    }

    /// Takes a document and reads the files that it includes.
    ///
    /// - Throws: The errors of ``init(contentsOf:)``.
    public init(_ document: SecurityPolicyDocument, folder: String = ".") throws(SecurityError) {
        parts = try Self.expand(Part(path: nil, folder: folder, document: document), within: [])
    }

    /// - Parameter outer: The resolved paths of the files that lead to this part.
    private static func expand(_ part: Part, within outer: [String]) throws(SecurityError) -> [Part] {
        var parts = [part]
        for (index, include) in part.document.includes.enumerated() {
            let place = "includes[\(index)]"
            let path = resolve(include, in: part.folder)
            let resolved = resolved(path)
            guard !outer.contains(resolved) else {
                throw part.locate(SecurityError(.includeLoop, "\"\(path.oneLine)\" includes itself."), at: place)
            }
            guard outer.count < mostFiles else { throw part.locate(tooMany, at: place) }
            let included: Part
            do {
                included = try Self.part(path)
            } catch {
                throw error.file == nil ? part.locate(error, at: place) : error
            }
            for (key, isGiven) in [
                ("otherHosts", included.document.otherHosts != nil),
                ("allowsSessionResumption", included.document.allowsSessionResumption != nil),
            ] where isGiven {
                throw included.locate(
                    SecurityError(.unenforceablePolicy, "An included file must not have \"\(key)\"; remove it."),
                    at: key)
            }
            parts += try expand(included, within: outer + [resolved])
            guard parts.count <= mostFiles else { throw part.locate(tooMany, at: place) }
        }
        return parts
    }

    private static var tooMany: SecurityError {
        SecurityError(.includeLoop, "More than \(mostFiles) files are included.")
    }

    private static func resolved(_ path: String) -> String {
        URL(filePath: path).resolvingSymlinksInPath().standardized.path
    }

    static func resolve(_ path: String, in folder: String) -> String {
        path.hasPrefix("/") ? path : folder + "/" + path
    }

    private static func part(_ path: String) throws(SecurityError) -> Part {
        let size = FileSize.ofRegularFile(path) ?? 0
        guard size <= PolicyDecoding.largestFile else {
            throw SecurityError(
                .invalidPolicyFile, "\"\(path.oneLine)\" has more than \(PolicyDecoding.largestFile) bytes.", path: "")
        }
        guard size > 0, let data = try? Data(contentsOf: URL(filePath: path)) else {
            throw SecurityError(.cannotReadFile, "\"\(path.oneLine)\" is empty, or is not a readable file.")
        }
        do {
            return Part(
                path: path, folder: URL(filePath: path).deletingLastPathComponent().path,
                document: try SecurityPolicyDocument(json: data), text: PolicyText(data))
        } catch {
            var error = error
            error.file = path
            throw error
        }
    }

    /// Makes the policy.
    ///
    /// - Throws: `SecurityError.Code.invalidPattern`, `SecurityError.Code.invalidPin`,
    ///   `SecurityError.Code.noPins`, `SecurityError.Code.duplicateRule`, `SecurityError.Code.missingPolicyKey`,
    ///   `SecurityError.Code.unenforceablePolicy`, and as `TrustAnchors.file(_:)`. `SecurityError.file`,
    ///   `SecurityError.line` and `SecurityError.path` give the location.
    public func makePolicy() throws(SecurityError) -> SecurityPolicy {
        var rules: [HostRule] = []
        var patterns: Set<HostPattern> = []
        for reader in ruleReaders() {
            for (index, rule) in try reader.rules().enumerated() {
                guard patterns.insert(rule.pattern).inserted else {
                    throw reader.error(
                        .duplicateRule, "There are two rules for \"\(rule.pattern)\".", "hosts[\(index)]")
                }
                rules.append(rule)
            }
        }
        var policy = try SecurityPolicy(rules: rules, otherHosts: otherHosts())
        policy.allowsSessionResumption = parts.first?.document.allowsSessionResumption ?? true
        return policy
    }

    private func otherHosts() throws(SecurityError) -> any TrustEvaluator {
        if let reader = otherHostsReader() { return try reader.evaluator() }
        return parts.first?.document.otherHosts == .refuse
            ? StandardTrustEvaluator.refuse : StandardTrustEvaluator.systemTrust
    }

    /// The reader of the rule for hosts without another one, if the file has one.
    func otherHostsReader() -> PolicyRuleReader? {
        guard let part = parts.first, case .rule(let rule) = part.document.otherHosts else { return nil }
        return PolicyRuleReader(rule: rule, path: "otherHosts", part: part, isNested: true)
    }

    func ruleReaders() -> [PolicyRuleReader] {
        parts.flatMap { part in
            part.document.rules.enumerated().map { index, rule in
                PolicyRuleReader(rule: rule, path: "rules[\(index)]", part: part)
            }
        }
    }
}

extension SecurityPolicy {
    /// Makes the policy of a file in the format of ``SecurityPolicyDocument``.
    ///
    /// - Throws: The errors of ``SecurityPolicyFile/init(contentsOf:)`` and ``SecurityPolicyFile/makePolicy()``.
    public static func file(_ path: String) throws(SecurityError) -> SecurityPolicy {
        try SecurityPolicyFile(contentsOf: path).makePolicy()
    }
}
