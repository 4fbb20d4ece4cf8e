internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetMessages
internal import LinnetSerialization

// Descriptions and mirrors, redacted with `Redaction.standard`, so that neither `print` nor `dump` shows a secret.
// Mirrors omit decoded values and bodies, because both can be a token.

extension SessionResponse: CustomStringConvertible, CustomReflectable {
    /// The status, the URL and the size of the body.
    public var description: String {
        "\(status.code) \(status.reasonPhrase) from \(Redaction.standard.text(of: url)), \(data.count) bytes"
    }

    /// The properties, redacted, and the size of the body.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "url": Redaction.standard.text(of: url), "status": status,
                "headerFields": Redaction.standard.lines(of: head.headerFields), "data": "\(data.count) bytes",
                "redirects": redirects, "metrics": metrics, "cacheOutcome": cacheOutcome as Any,
                "contentCodings": contentCodings,
            ], displayStyle: .struct)
    }
}

extension HTTPCall: CustomStringConvertible, CustomReflectable {
    /// The method and the path or the URL, redacted with `Redaction.standard`.
    public var description: String {
        switch target {
        case .request(let request): request.description
        case .path(let method, let path):
            "\(method) \(URL(string: path).map(Redaction.standard.text) ?? "an invalid URL")"
        }
    }

    /// The description.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension HTTPSession: CustomStringConvertible, CustomReflectable {
    /// The base URL.
    public var description: String {
        "HTTPSession(\(baseURL.map(Redaction.standard.text) ?? "no base URL"))"
    }

    /// The description.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension SessionError: CustomReflectable {
    /// The properties, redacted, and the size of the body.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "code": code, "message": message, "url": url.map(Redaction.standard.text) as Any,
                "status": head?.status as Any,
                "headerFields": Redaction.standard.lines(of: head?.headerFields ?? [:]),
                "body": body.map { "\($0.count) bytes" } as Any, "timeout": timeout as Any,
                "trustRefusal": trustRefusal as Any, "fileFailure": fileFailure as Any, "resumeData": resumeData as Any,
                "metrics": metrics, "redirects": redirects, "underlying": underlying as Any,
            ], displayStyle: .struct)
    }
}

extension HTTPRedirect: CustomReflectable {
    /// The properties, redacted.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "status": status, "headerFields": Redaction.standard.lines(of: head.headerFields),
                "url": Redaction.standard.text(of: url), "target": Redaction.standard.text(of: target),
            ], displayStyle: .struct)
    }
}

extension RetryPolicy.Attempt: CustomReflectable {
    /// The properties, redacted.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "number": number, "request": request, "sentRequest": sentRequest, "status": head?.status as Any,
                "headerFields": Redaction.standard.lines(of: head?.headerFields ?? [:]), "error": error as Any,
            ], displayStyle: .struct)
    }
}

extension AuthenticationAttempt: CustomReflectable {
    /// The properties, redacted.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "origin": origin, "challenges": challenges, "status": head.status,
                "headerFields": Redaction.standard.lines(of: head.headerFields), "failures": failures,
                "proposedCredential": proposedCredential as Any,
            ], displayStyle: .struct)
    }
}

extension ResumeData: CustomReflectable {
    /// The properties, redacted.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "url": Redaction.standard.text(of: url), "entityTag": entityTag as Any,
                "lastModified": lastModified as Any,
                "partialFile": partialFile, "receivedBytes": receivedBytes, "totalBytes": totalBytes as Any,
            ], displayStyle: .struct)
    }
}

extension TaskEvent: CustomReflectable {
    /// The properties, redacted.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "taskID": taskID, "kind": kind, "url": url.map(Redaction.standard.text) as Any, "tag": tag as Any,
                "taskDescription": taskDescription as Any,
            ], displayStyle: .struct)
    }
}

extension TaskCompletion: CustomReflectable {
    /// The properties, redacted, and the size of the body.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "status": head?.status as Any,
                "headerFields": Redaction.standard.lines(of: head?.headerFields ?? [:]),
                "body": body.map { "\($0.count) bytes" } as Any, "file": file as Any, "error": error as Any,
                "metrics": metrics,
            ], displayStyle: .struct)
    }
}

extension TransferTask: CustomReflectable {
    /// The kind, the state, the request and the error, redacted.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "id": id, "kind": kind, "state": state, "originalRequest": originalRequest as Any,
                "error": error as Any,
            ])
    }
}

extension HTTPResponseBody: CustomReflectable {
    /// The size of a body in memory, without its bytes.
    public var customMirror: Mirror {
        Mirror(self, children: ["whole": whole.map { "\($0.count) bytes" } as Any], displayStyle: .struct)
    }
}

extension InterceptorChain: CustomReflectable {
    /// No properties, because the chain refers to the session and earlier requests.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
