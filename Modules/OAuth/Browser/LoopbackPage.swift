/// A page for the browser. It contains no text of a request.
enum LoopbackPage: CaseIterable {
    case received, refused, answeredBefore, invalid, notFound, methodNotAllowed, tooLarge

    private var status: String {
        switch self {
        case .received: "200 OK"
        case .refused: "403 Forbidden"
        case .answeredBefore: "409 Conflict"
        case .invalid: "400 Bad Request"
        case .notFound: "404 Not Found"
        case .methodNotAllowed: "405 Method Not Allowed"
        case .tooLarge: "431 Request Header Fields Too Large"
        }
    }

    private var text: String {
        switch self {
        case .received: "The login was received. You can close this page and return to the program."
        case .refused: "The login failed. You can close this page and return to the program, which says why."
        case .answeredBefore: "This login was answered before. You can close this page."
        case .invalid, .tooLarge: "This request is not the answer of the login that runs."
        case .notFound: "There is no such page."
        case .methodNotAllowed: "This page can only be read."
        }
    }

    /// The response, after which the connection is closed.
    var response: String {
        let page = """
            <!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Login</title></head>\
            <body><p>\(text)</p></body></html>

            """
        return """
            HTTP/1.1 \(status)\r
            Content-Type: text/html; charset=utf-8\r
            Content-Length: \(page.utf8.count)\r
            Cache-Control: no-store\r
            Content-Security-Policy: default-src 'none'\r
            Referrer-Policy: no-referrer\r
            X-Content-Type-Options: nosniff\r
            Connection: close\(self == .methodNotAllowed ? "\r\nAllow: GET" : "")\r
            \r
            \(page)
            """
    }
}
