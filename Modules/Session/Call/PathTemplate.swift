internal import FoundationEssentials
internal import LinnetMessages
internal import LinnetSerialization

/// A path with names in braces, filled with values.
struct PathTemplate {
    /// The path with the values in place of the names.
    let path: String
    private let template: String

    /// - Throws: ``SessionError/Code/invalidURL``, unless each name has a value and each value a name.
    init(_ template: String, _ parameters: RequestParameters) throws(SessionError) {
        self.template = template
        var texts: [String: String] = [:]
        for entry in parameters.entries { texts[entry.key] = try Self.segment(entry.value, for: entry.key) }
        // Only the path: a brace in the query stands for itself.
        var rest = template.prefix { $0 != "?" && $0 != "#" }
        let end = rest.endIndex
        var (path, used) = ("", Set<String>())
        while let open = rest.firstIndex(of: "{") {
            guard let close = rest[open...].firstIndex(of: "}") else {
                throw .badTemplate("The path has a brace that is not closed.")
            }
            let name = String(rest[rest.index(after: open)..<close])
            guard let text = texts[name] else { throw .badTemplate("The path has a name without a value: {\(name)}.") }
            path += rest[..<open] + text
            used.insert(name)
            rest = rest[rest.index(after: close)...]
        }
        if let name = texts.keys.filter({ !used.contains($0) }).min() {
            throw .badTemplate("The path has no {\(name)}, for which there is a value.")
        }
        self.path = path + rest + template[end...]
    }

    /// The value as a segment of a path (RFC 3986, section 3.3).
    private static func segment(_ value: ParameterValue, for name: String) throws(SessionError) -> String {
        let text: String
        switch value {
        case .string(let value): text = value
        case .integer(let value): text = "\(value)"
        case .unsigned(let value): text = "\(value)"
        case .double(let value): text = "\(value)"
        case .decimal(let value): text = "\(value)"
        case .bool(let value): text = "\(value)"
        case .null, .data, .date, .array, .set, .dictionary:
            throw .badTemplate("The value for {\(name)} is not a text, a number or a Boolean.")
        }
        // Servers remove dot segments even if they are encoded.
        guard !text.isEmpty, text != ".", text != ".." else {
            throw .badTemplate("The value for {\(name)} would change the path: it is \(text.debugDescription).")
        }
        return PercentCoding.encoded(text.utf8) { ASCII.isAlphanumeric($0) || "-._~".utf8.contains($0) }
    }

    /// The template of the whole path of the URL that was made of ``path``: an absolute path, as OpenTelemetry's
    /// conventions want it.
    func text(at url: URL) -> String {
        let own = template.prefix { $0 != "?" && $0 != "#" }
        if let authority = own.firstRange(of: "://") {
            return own[authority.upperBound...].firstIndex(of: "/").map { String(own[$0...]) } ?? "/"
        }
        // The path of the base comes before a relative path.
        let (filled, whole) = (path.prefix { $0 != "?" && $0 != "#" }, url.path(percentEncoded: true))
        guard !own.hasPrefix("/"), whole.hasSuffix(filled) else { return String(own) }
        return "\(whole.dropLast(filled.count))\(own)"
    }
}

extension SessionError {
    fileprivate static func badTemplate(_ message: String) -> SessionError {
        SessionError(.invalidURL, message, url: nil)
    }

    static func givenURL(_ url: URL) -> SessionError {
        SessionError(.invalidURL, "A call of a given request has no path for variables.", url: url)
    }
}
