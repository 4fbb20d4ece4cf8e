public import FoundationEssentials
public import HTTPTypes
public import LinnetCompression
internal import LinnetMessages
public import LinnetMultipart
public import LinnetSerialization
internal import LinnetTransport

/// A request to a server, ready to be sent. Making a call sends nothing; its methods that return a response send it:
///
/// ```swift
/// let posts = try await api.get("posts", ["page": 2]).value(as: [Post].self)
/// let report = api.get("report").timeout(.seconds(5)).header(.accept, "text/csv")
/// let text = try await report.text()
/// ```
/// A call is a value. It can be sent any number of times, unless its body is a stream that can be read only once; then
/// the second time fails with ``SessionError/Code/requestBodyFailed``. An invalid call, for example with a bad URL,
/// fails when it is sent, in the same way as other failures.
public struct HTTPCall: Sendable {
    /// The content that is sent in addition to the header fields.
    enum Content: Sendable {
        case none
        case parameters(RequestParameters)
        case json(@Sendable (SessionRequest, HTTPSession.Configuration) throws(SerializationError) -> SessionRequest)
        case body(HTTPRequestBody, contentType: String?)
        case file(URL)
        indirect case form(MultipartForm)
        case failure(SessionError)

        /// Whether the call is an upload; parameters and JSON do not count as one.
        var isUpload: Bool {
            switch self {
            case .body, .file, .form: true
            case .none, .parameters, .json, .failure: false
            }
        }
    }

    /// The target of the call.
    enum Target: Sendable {
        /// A path, which is resolved against the base URL.
        case path(HTTPRequest.Method, String)
        /// A request, which is sent unchanged, unless the call has other content.
        indirect case request(SessionRequest)
    }

    /// Rarely used properties, stored behind a reference to keep other calls small.
    struct Extras: Sendable {
        var requestSerializer: (any RequestSerializer)?
        var hooks: TaskHooks?
        var additions: Boxed<Flight.Additions>?
        /// The coding of the request's body.
        var bodyCoding: ContentCoding?
        /// The values for the names in the path; nil if braces stand for themselves.
        var pathVariables: RequestParameters?
        /// The reason why the call is invalid.
        var failure: SessionError?
    }

    let session: HTTPSession
    let target: Target
    var content: Content
    /// Whether the request accepts JSON unless the call, the session or a serializer sets Accept.
    var acceptsJSON = false
    var headerFields = HTTPFields()
    var options = RequestOptions()
    var extras: Boxed<Extras>?

    init(_ session: HTTPSession, _ target: Target, _ content: Content = .none) {
        self.session = session
        self.target = target
        self.content = content
    }
}

// MARK: - Modifiers

extension HTTPCall {
    /// Returns the call with a header field, which replaces fields of the same name from the session, a serializer or
    /// the call; nil removes the call's own field.
    ///
    /// A value with CR, LF, NUL or other invalid bytes (RFC 9110, section 5.5) fails the call with
    /// ``SessionError/Code/invalidRequest``.
    public func header(_ name: HTTPField.Name, _ value: String?) -> HTTPCall {
        var fields = headerFields
        do {
            try fields.set(value?.trimmingOptionalWhitespace, forName: name.rawName)
        } catch {
            return changingExtras { $0.failure = SessionError(error, url: nil) }
        }
        return changed { $0.headerFields = fields }
    }

    /// Returns the call with these header fields, which replace fields of the same names.
    public func headers(_ fields: HTTPFields) -> HTTPCall {
        changed { $0.headerFields.override(with: fields) }
    }

    /// Returns the call with a timeout for all of it, including redirects and retries; nil uses the session's. If that
    /// is too short, `.seconds(Int64.max)` is a timeout that never passes.
    ///
    /// At the timeout, the call ends with ``SessionError/Code/timeout``, whatever interceptors, adapters, retriers,
    /// hooks and other code of yours are doing: their tasks are cancelled and abandoned, and their later results are
    /// released. Only a synchronous function in the call's own task, such as a serializer, cannot be interrupted.
    public func timeout(_ limit: Duration?) -> HTTPCall {
        changed { $0.options.timeout = limit }
    }

    /// Returns the call with a custom tag for events, hooks and interceptors.
    public func tag(_ tag: String?) -> HTTPCall {
        changed { $0.options.tag = tag }
    }

    /// Returns the call with values for the names in braces in its path:
    ///
    /// ```swift
    /// let user = try await api.get("users/{id}").pathVariables(["id": 7]).value(as: User.self)
    /// ```
    /// A value is text, a number or a Boolean, and is percent-encoded, also its slashes. The path before the
    /// replacement becomes `RequestOptions.template`. A name without a value, a value without its name in the path, and
    /// a value that would change the path's structure (an empty one, `.` and `..`) fail the call with
    /// ``SessionError/Code/invalidURL``. A call of a given request cannot have path variables.
    public func pathVariables(_ values: RequestParameters) -> HTTPCall {
        changingExtras { $0.pathVariables = values }
    }

    /// Returns the call with other options: `call.options { $0.connectTimeout = .seconds(2) }`.
    public func options(_ change: (inout RequestOptions) -> Void) -> HTTPCall {
        changed { change(&$0.options) }
    }

    /// Returns the call with options that replace all of its own.
    public func options(_ options: RequestOptions) -> HTTPCall {
        changed { $0.options = options }
    }

    /// Returns the call with its own hooks, in addition to the session's.
    public func hooks(_ hooks: TaskHooks?) -> HTTPCall {
        changingExtras { $0.hooks = hooks }
    }

    /// Returns the call with another interceptor, inside of its earlier ones and outside of the session's.
    public func interceptor(_ interceptor: some Interceptor) -> HTTPCall {
        changingAdditions { $0.interceptors.append(interceptor) }
    }

    /// Returns the call with an adapter, which changes the request of each attempt, after the session's adapters.
    public func adapter(_ adapter: some RequestAdapter) -> HTTPCall {
        changingAdditions { $0.adapters.append(adapter) }
    }

    /// Returns the call with a retrier, which decides before the session's.
    public func retrier(_ retrier: some RequestRetrier) -> HTTPCall {
        changingAdditions { $0.retriers.append(retrier) }
    }

    /// Returns the call with a retry policy instead of the session's: `call.retry(.limited(to: 3))`.
    public func retry(_ policy: RetryPolicy) -> HTTPCall {
        changingAdditions { $0.retryPolicy = policy }
    }

    /// Returns the call with a hedging policy instead of the session's:
    /// `call.hedging(HedgingPolicy(after: .milliseconds(200)))`.
    public func hedging(_ policy: HedgingPolicy) -> HTTPCall {
        changingAdditions { $0.hedging = policy }
    }

    /// Returns the call with a serializer instead of the session's: `api.post("x", ["a": 1]).requestSerializer(.json)`.
    ///
    /// Credentials from this serializer are sent to the call's origin, whatever it is.
    public func requestSerializer(_ serializer: some RequestSerializer) -> HTTPCall {
        changingExtras { $0.requestSerializer = serializer }
    }

    /// Returns the call with an `Encodable` value as its parameters, which the request serializer writes.
    public func parameters(_ value: some Encodable, encoder: ParameterEncoder = ParameterEncoder()) -> HTTPCall {
        changed {
            do throws(SerializationError) {
                $0.content = .parameters(try encoder.encode(value))
            } catch {
                $0.content = .failure(SessionError(error, url: nil))
            }
        }
    }

    /// Returns the call with a value as its JSON body, written by ``HTTPSession/Configuration/encoder``.
    public func body(json value: some Encodable & Sendable) -> HTTPCall {
        changed {
            $0.content = .json { (request, configuration) throws(SerializationError) in
                try configuration.jsonRequest(request, value)
            }
        }
    }

    /// Returns the call with a multipart form as its body. The form is encoded while it is sent, so memory does not
    /// grow with its files.
    public func body(form: MultipartForm) -> HTTPCall {
        changed { $0.content = .form(form) }
    }

    /// Returns the call with an unchanged body. The default of `contentType` is the value in the header fields, or
    /// none.
    public func body(_ body: HTTPRequestBody, contentType: String? = nil) -> HTTPCall {
        changed { $0.content = .body(body, contentType: contentType) }
    }

    /// Returns the call with a file as its body, which is read while it is sent. Its size becomes the Content-Length;
    /// without a Content-Type in the header fields, the file's extension determines one.
    ///
    /// An unreadable file, or a file that changes while it is sent, fails the call with
    /// ``SessionError/Code/fileFailed``.
    public func body(file: URL) -> HTTPCall {
        changed { $0.content = .file(file) }
    }

    /// Returns the call with its body in a content coding, named in Content-Encoding (RFC 9110, section 8.4):
    /// `call.compressed(with: .gzip)`.
    ///
    /// Use it with servers that are known to decode requests; HTTP has no way to ask beforehand. Up to 1 MiB in memory
    /// is encoded before it is sent. Other bodies are encoded while they are sent, without a Content-Length; if they
    /// could be replayed, they still can. Upload progress counts the encoded bytes. Nil, the default, does not encode
    /// the body.
    public func compressed(with coding: ContentCoding?) -> HTTPCall {
        changingExtras { $0.bodyCoding = coding }
    }

    /// The call that fails with an error when it is sent.
    package func failing(with error: SessionError) -> HTTPCall {
        changingExtras { $0.failure = error }
    }

    private func changingAdditions(_ change: (inout Flight.Additions) -> Void) -> HTTPCall {
        changingExtras {
            var additions = $0.additions?.value ?? Flight.Additions()
            change(&additions)
            $0.additions = Boxed(additions)
        }
    }

    private func changingExtras(_ change: (inout Extras) -> Void) -> HTTPCall {
        changed {
            var extras = $0.extras?.value ?? Extras()
            change(&extras)
            $0.extras = Boxed(extras)
        }
    }

    func changed(_ change: (inout HTTPCall) -> Void) -> HTTPCall {
        var call = self
        change(&call)
        return call
    }
}

// MARK: - The request

extension HTTPCall {
    /// Returns the request of the call: resolved, serialized, and with the call's header fields in place of others.
    ///
    /// Credentials from the session's serializer, such as Authorization and Cookie, stay at the base URL's origin: a
    /// call to another origin does not have them.
    ///
    /// - Throws: ``SessionError`` with ``SessionError/Code/invalidURL``, or the code of the serializer's error.
    public func request() throws(SessionError) -> SessionRequest {
        if let failure = extras?.value.failure { throw failure }
        var request = try plainRequest()
        if acceptsJSON, request.headerFields[.accept] == nil { request.headerFields[.accept] = "application/json" }
        if request.options.sendsIdempotencyKey == true, request.headerFields[.idempotencyKey] == nil {
            // The draft's value is a string of structured fields (RFC 9651), with its quotation marks.
            request.headerFields[.idempotencyKey] = "\"\(UUID().uuidString.lowercased())\""
        }
        if let coding = extras?.value.bodyCoding { try request.encodeBody(in: coding) }
        return request
    }

    /// Returns the request with its unencoded body.
    ///
    /// Not inlined: its temporary values would be part of the frame of a request that waits.
    @inline(never)
    private func plainRequest() throws(SessionError) -> SessionRequest {
        var request: SessionRequest
        switch target {
        case .path(let method, let path):
            guard let values = extras?.value.pathVariables else {
                request = SessionRequest(url: try session.url(for: path), method: method, options: options)
                break
            }
            let template = try PathTemplate(path, values)
            request = SessionRequest(url: try session.url(for: template.path), method: method, options: options)
            if options.template == nil { request.options.template = template.text(at: request.url) }
        case .request(let own):
            guard extras?.value.pathVariables == nil else { throw .givenURL(own.url) }
            request = own
            request.options = options.filled(from: own.options)
        }
        let url = request.url
        do {
            try serialize(&request)
            return request
        } catch let error as SessionError {
            throw error
        } catch let error as MultipartError {
            throw SessionError(.encodingFailed, error.message, underlying: error, url: url)
        } catch let error as SerializationError {
            throw SessionError(error, url: url)
        } catch {
            throw SessionError(
                .encodingFailed, "The request's body could not be made: \(SessionError.cause(error))",
                underlying: error, url: url)
        }
    }

    /// Whether the request is the caller's, and there is nothing to serialize.
    private var isAsGiven: Bool {
        if case .request = target, case .none = content { extras?.value.requestSerializer == nil } else { false }
    }

    /// The header fields for a given request. They are read at the point of use, because keeping a copy would make the
    /// next change of the fields allocate.
    var givenFields: HTTPFields? {
        if case .request(let request) = target { request.headerFields } else { nil }
    }

    /// Sets the body, and adds the parameters and the header fields.
    private func serialize(_ request: inout SessionRequest) throws {
        let table = session.headerTable
        let own = extras?.value.requestSerializer
        let parameters = try setContent(of: &request, table)
        let serializer = isAsGiven ? nil : own ?? session.initialConfiguration.requestSerializer
        try table.complete(&request, of: self, by: serializer, isOfCall: own != nil, parameters)
    }

    /// Sets the body and its media type. Returns the parameters, which the serializer writes.
    private func setContent(of request: inout SessionRequest, _ table: HeaderTable) throws -> RequestParameters? {
        switch content {
        case .none: break
        case .parameters(let given): return given
        case .json(let write):
            if request.headerFields[.contentType] == nil {
                request.headerFields[.contentType] = table.jsonContentType(with: extras?.value.requestSerializer)
            }
            request = try write(request, session.initialConfiguration)
        case .body(let body, let contentType):
            request.body = body
            if let contentType { request.headerFields[.contentType] = contentType }
        case .file(let file):
            request.body = try .file(file)
            if request.headerFields[.contentType] == nil {
                request.headerFields[.contentType] = MIMEType.Table.usual.type(
                    forPathExtension: file.pathExtension)
            }
        case .form(let form):
            try form.validate()
            request.body = form.makeBody()
            request.headerFields[.contentType] = form.contentType
        case .failure(let error): throw error
        }
        return nil
    }
}
