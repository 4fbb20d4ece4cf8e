/// Suffixes under which strangers can register names.
///
/// A few of the usual ones: the whole list (publicsuffix.org) changes every week and has ten thousand rows.
enum PublicSuffixes {
    /// The suffix that a wildcard stands before; nil for other patterns.
    static func suffix(of pattern: HostPattern) -> String? {
        switch pattern.form {
        case .oneLabel(let base), .anyDepth(let base): isPublic(base) ? base : nil
        case .exact, .range, .singleLabel, .privateUse: nil
        }
    }

    private static func isPublic(_ name: String) -> Bool {
        // Each top-level name is one, but for those that are nobody's (RFC 6761, RFC 6762).
        guard HostName.labels(name) > 1 else { return !nobodys.contains(name) }
        return known.contains(name)
    }

    private static let nobodys: Set<String> = ["localhost", "local", "internal", "test", "example", "invalid", "lan"]

    private static let known: Set<String> = [
        "co.uk", "org.uk", "gov.uk", "ac.uk", "me.uk", "com.au", "net.au", "org.au", "gov.au", "co.nz", "org.nz",
        "co.jp", "or.jp", "ne.jp", "ac.jp", "go.jp", "co.kr", "or.kr", "com.cn", "net.cn", "org.cn", "gov.cn",
        "com.tw", "com.hk", "com.sg", "com.my", "co.id", "co.th", "com.vn", "com.ph", "co.in", "net.in", "org.in",
        "com.br", "net.br", "org.br", "gov.br", "com.ar", "com.mx", "com.co", "com.pe", "co.za", "org.za", "com.ng",
        "com.eg", "co.il", "org.il", "com.tr", "com.ua", "com.pl", "com.es", "com.pt", "com.gr",
        "github.io", "gitlab.io", "pages.dev", "workers.dev", "vercel.app", "netlify.app", "web.app", "firebaseapp.com",
        "herokuapp.com", "appspot.com", "azurewebsites.net", "cloudfront.net", "amazonaws.com", "s3.amazonaws.com",
        "fly.dev", "onrender.com", "blogspot.com", "cloudapp.net", "ngrok.io", "ngrok.app", "duckdns.org",
    ]
}
