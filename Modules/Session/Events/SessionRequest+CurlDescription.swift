internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetCookies
public import LinnetMessages
public import LinnetSerialization
internal import LinnetTransport

extension SessionRequest {
    /// The maximum size of a body in the command: Linux's limit for one argument, with room for its quotes.
    private static let inlineLimit = 32 * 1024

    /// Returns the request as a curl command line for a POSIX shell.
    ///
    /// With `Redaction.insecureShowEverything`, curl sends the same request, because curl's own defaults are switched
    /// off. By default, credentials and cookies are hidden. A body that cannot be part of the command, such as a
    /// stream, is described in a comment at the end. The command does not include additions of the session and its
    /// interceptors; see ``HTTPCall/curlDescription(redaction:)``.
    public func curlDescription(redaction: Redaction = .standard) -> String {
        curlDescription(redaction, isDecoded: false)
    }

    /// Returns the command, and lets curl decode the response if the session does.
    fileprivate func curlDescription(_ redaction: Redaction, isDecoded: Bool) -> String {
        var request = self
        // The user information of the URL is sent as a header field.
        if let target = try? RequestTarget(url) {
            request.headerFields = target.head(of: self).headerFields
            request.url = url.withoutUserInfo
        }
        return request.curlCommand(redaction, isDecoded: isDecoded)
    }

    private func curlCommand(_ redaction: Redaction, isDecoded: Bool) -> String {
        // curl refuses --head together with a body, and waits for the response's body with --request HEAD.
        let body =
            method == .head && body != nil
            ? CurlBody(remark: "curl sends no body with HEAD") : CurlBody(body ?? emptyBody, limit: Self.inlineLimit)
        var words = ["curl", "--globoff", "--path-as-is"] + (isDecoded ? ["--compressed"] : [])
        words += methodWords(hasBody: !body.words.isEmpty)
        for field in headerFields {
            let value = redaction.value(of: field)
            words += ["--header", value.isEmpty ? "\(field.name);" : "\(field.name): \(value)"]
        }
        var ownFields: [HTTPField.Name] = [.accept, .userAgent]
        if !body.words.isEmpty { ownFields += [.contentType, .expect] }
        for name in ownFields where !headerFields.contains(name) { words += ["--header", "\(name):"] }
        words += body.words
        words.append(redaction.text(of: url))
        let command = body.prefix + words.map(\.shellQuoted).joined(separator: " ")
        return body.remark.map { command + "  # " + $0 } ?? command
    }

    /// The empty body of a method that defines a meaning for a body (RFC 9110, section 8.6).
    private var emptyBody: HTTPRequestBody? {
        method == .post || method == .put || method == .patch ? .data(Data()) : nil
    }

    private func methodWords(hasBody: Bool) -> [String] {
        switch method {
        case .head: ["--head"]
        case .get where !hasBody: []
        default: ["--request", method.rawValue]
        }
    }
}

/// A request's body as part of a curl command.
private struct CurlBody {
    var prefix = ""
    var words: [String] = []
    var remark: String?

    init(remark: String) { self.remark = remark }

    init(_ body: HTTPRequestBody?, limit: Int) {
        guard let body else { return }
        if let file = body.file {
            words = ["--data-binary", "@" + file.path]
        } else if let data = body.data {
            inline(data, limit)
        } else {
            remark = "the body is a stream and is not shown"
        }
    }

    private mutating func inline(_ data: Data, _ limit: Int) {
        if data.count > limit {
            remark = "the body of \(data.count) bytes is not shown"
        } else if !data.contains(0), let text = String(validating: data, as: UTF8.self) {
            words = ["--data-raw", text]
        } else {
            prefix = "printf '\(data.printfFormat)' | "
            words = ["--data-binary", "@-"]
        }
    }
}

extension HTTPCall {
    /// Returns the call's request as a curl command line, with the cookies of the session's jar, which count as used,
    /// and with the unix socket of the host, or the local address, the interface and the proxy of a fixed policy,
    /// without its user name and password, and `--compressed` if the session decodes the response; see
    /// `SessionRequest.curlDescription(redaction:)`.
    ///
    /// - Throws: The errors of ``request()``.
    public func curlDescription(redaction: Redaction = .standard) throws(SessionError) -> String {
        var request = try request()
        if let jar = session.initialConfiguration.cookieJar, request.options.usesCookies ?? true {
            jar.addCookies(to: &request.headerFields, for: request.url, context: request.cookieContext)
        }
        request = session.engine.chain.coding?.prepared(request) ?? request
        let isDecoded = session.headerTable.codings.first.map { request.headerFields.contains($0) } ?? false
        let command = request.curlDescription(redaction, isDecoded: isDecoded)
        guard let words = session.initialConfiguration.curlWords(for: request.url) else { return command }
        let options = words.map(\.shellQuoted).joined(separator: " ")
        return command.replacing("curl ", with: "curl \(options) ", maxReplacements: 1)
    }
}

extension HTTPSession.Configuration {
    /// The options that make curl connect like the session; nil if it needs none.
    fileprivate func curlWords(for url: URL) -> [String]? {
        guard let origin = (try? RequestTarget(url))?.origin else { return nil }
        if let path = resolution.unixSocket(of: origin) { return ["--unix-socket", path] }
        var words: [String] = []
        switch (resolution.networkInterface, resolution.localAddress) {
        case (let interface?, let address?): words = ["--interface", "ifhost!\(interface)!\(address)"]
        case (let interface?, nil): words = ["--interface", "if!\(interface)"]
        case (nil, let address?): words = ["--interface", "host!\(address)"]
        case (nil, nil): break
        }
        if let proxy = proxies.fixedProxy(for: origin) { words += ["--proxy", proxy.description] }
        return words.isEmpty ? nil : words
    }
}

extension String {
    /// The text quoted as one word of a POSIX shell (POSIX.1, Shell Command Language, section 2.2.2). NUL cannot be
    /// part of a word and is removed.
    ///
    /// Quoting compares bytes, as the shell does, because a quote followed by a combining mark is a different
    /// Character.
    var shellQuoted: String {
        let bytes = utf8.filter { $0 != 0 }
        if !bytes.isEmpty, bytes.allSatisfy(\.isPlainInShell) { return String(decoding: bytes, as: UTF8.self) }
        var quoted = [UInt8(ascii: "'")]
        quoted.reserveCapacity(bytes.count + 2)
        for byte in bytes {
            if byte == UInt8(ascii: "'") { quoted += #"'\''"#.utf8 } else { quoted.append(byte) }
        }
        quoted.append(UInt8(ascii: "'"))
        return String(decoding: quoted, as: UTF8.self)
    }
}

extension UInt8 {
    fileprivate var isPlainInShell: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "-_./:=@%+,".utf8.contains(self)
        }
    }
}

extension Data {
    /// The format with which POSIX `printf` writes these bytes.
    var printfFormat: String {
        var format = ""
        format.reserveCapacity(count * 4)
        for byte in self {
            format += "\\"
            for shift in [6, 3, 0] { format += String((byte >> UInt8(shift)) & 7) }
        }
        return format
    }
}
