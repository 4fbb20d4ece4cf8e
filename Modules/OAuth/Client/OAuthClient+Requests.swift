internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetJSON
internal import LinnetMessages
internal import LinnetSerialization
internal import LinnetSession

/// The answer of an endpoint, as far as it was read.
struct EndpointAnswer {
    let status: Int
    let body: Data
    /// The name of the endpoint for messages.
    let endpoint: String
    /// The secrets of the request. An issuer may repeat them in the texts of an error.
    var secrets: [String] = []

    /// The object of a success. Throws the error of an error response, whatever its status.
    func object() throws(OAuthError) -> JSONObject {
        guard let object = try successOrError() else {
            throw .invalidResponse(endpoint, "it is not a JSON object", status: status)
        }
        return object
    }

    /// The object of a success; nil if the body is not an object.
    func successOrError() throws(OAuthError) -> JSONObject? {
        guard !(300..<400 ~= status) else {
            throw OAuthError(
                .redirectRefused,
                "The \(endpoint) answered with a redirect, which is not followed: the request has credentials.",
                status: status)
        }
        let options = JSONValue.ParsingOptions(
            maximumDepth: 16, allowsFragments: false, duplicateNames: .refused, maximumMemory: 64 << 20)
        let object = (try? JSONValue(parsing: body, options: options))?.object
        if let error = object?["error"], !error.isNull {
            guard let error = error.string else {
                throw .invalidResponse(endpoint, "the code of its error is not a string", status: status)
            }
            let response = OAuthError.ErrorResponse(
                error: redacted(error), description: (object?["error_description"]?.string).map(redacted),
                uri: (object?["error_uri"]?.string).map(redacted))
            throw OAuthError(response, endpoint: endpoint, status: status)
        }
        guard 200..<300 ~= status else {
            throw .invalidResponse(endpoint, "its status is \(status), and it describes no error", status: status)
        }
        return object
    }

    private func redacted(_ text: String) -> String {
        // The replacement of a short text would hide others that are no secrets.
        secrets.reduce(text) { $1.utf8.count < 8 ? $0 : $0.replacing($1, with: Redaction.mark) }
    }
}

extension OAuthClient {
    /// The largest size of an answer.
    static let answerLimit = 1 << 20

    /// Sends parameters to an endpoint, with the proof of the client's identity.
    func post(
        _ parameters: [(String, String)], to endpoint: URL, _ name: String
    ) async throws(OAuthError) -> EndpointAnswer {
        guard !id.isEmpty else { throw OAuthError(.invalidConfiguration, "The identifier of the client is empty.") }
        var fields: HTTPFields = [.accept: "application/json", .contentType: "application/x-www-form-urlencoded"]
        var form = parameters
        switch authentication.method {
        case .none: form.append(("client_id", id))
        case .basic(let secret):
            // Both are encoded before they are joined (RFC 6749, section 2.3.1).
            let pair = "\(FormEncoding.encode(id)):\(FormEncoding.encode(secret))"
            fields[.authorization] = "Basic " + Data(pair.utf8).base64EncodedString()
        case .post(let secret): form += [("client_id", id), ("client_secret", secret)]
        }
        let request = SessionRequest(
            url: endpoint, method: .post, headerFields: fields, body: .data(Data(FormEncoding.encode(form).utf8)))
        var answer = try await Self.answer(to: session.call(request), within: timeout, name)
        answer.secrets = form.filter { Self.secretNames.contains($0.0) }.map(\.1)
        if case .basic(let secret) = authentication.method { answer.secrets.append(secret) }
        return answer
    }

    /// The names of the parameters that are secrets.
    private static let secretNames: Set = [
        "refresh_token", "code", "code_verifier", "device_code", "token", "client_secret",
    ]

    /// Sends a call and reads its answer.
    static func answer(
        to call: HTTPCall, within timeout: Duration, _ name: String
    ) async throws(OAuthError) -> EndpointAnswer {
        do throws(SessionError) {
            let response = try await call.timeout(timeout).retry(.never).hooks(sendingOnce).bytes(validation: .none)
            let body = try await response.body.collect(upTo: answerLimit)
            return EndpointAnswer(status: response.status.code, body: body, endpoint: name)
        } catch {
            throw OAuthError(error, endpoint: name)
        }
    }

    /// The request may have a refresh token, which is sent once, to this endpoint, whatever the session's hooks and
    /// retriers decide, and whatever passwords it has for the endpoint.
    private static let sendingOnce = TaskHooks {
        $0.willRedirect = { _, _, _ in .doNotFollow }
        $0.willRetry = { _, _, _ in .doNotRetry }
        $0.didReceiveChallenge = { _, _ in .reject }
    }
}
