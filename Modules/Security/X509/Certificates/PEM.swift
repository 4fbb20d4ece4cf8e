internal import COpenSSL
package import FoundationEssentials

/// Reads certificates and keys out of PEM text (RFC 7468). Never asks for a passphrase.
package enum PEM {
    /// OpenSSL's default callback would prompt at the terminal and wait.
    private static let refusePassphrase:
        @convention(c) (
            UnsafeMutablePointer<CChar>?, Int32, Int32, UnsafeMutableRawPointer?
        ) -> Int32 = { _, _, _, _ in -1 }

    static func isPEM(_ data: Data) -> Bool {
        data.firstRange(of: Array("-----BEGIN ".utf8)) != nil
    }

    /// Whether a text is PEM itself, rather than the path of a file.
    package static func isPEM(_ text: String) -> Bool { text.hasPrefix("-----BEGIN ") }

    /// The PEM text of DER bytes.
    package static func text(_ der: Data, label: String) -> String {
        let lines = der.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN \(label)-----\n\(lines)\n-----END \(label)-----\n"
    }

    /// All certificates, in order; nil if a certificate block cannot be read.
    static func certificates(_ data: Data) -> [X509Handle]? {
        OpenSSLErrorQueue.clear()
        return withBIO(data) { bio in
            var certificates: [X509Handle] = []
            while let certificate = PEM_read_bio_X509(bio, nil, refusePassphrase, nil) {
                certificates.append(X509Handle(owning: certificate))
            }
            return endedCleanly() && certificates.count == announced(data, certificateLabels) ? certificates : nil
        }
    }

    /// All revocation lists in DER, in order; nil if a revocation list block cannot be read.
    static func revocationLists(_ data: Data) -> [Data]? {
        OpenSSLErrorQueue.clear()
        return withBIO(data) { bio in
            var lists: [Data] = []
            while let list = PEM_read_bio_X509_CRL(bio, nil, refusePassphrase, nil) {
                defer { X509_CRL_free(list) }
                var out: UnsafeMutablePointer<UInt8>?
                let count = i2d_X509_CRL(list, &out)
                guard count > 0, let out else { return nil }
                defer { CRYPTO_free(out, #file, #line) }
                lists.append(Data(UnsafeBufferPointer(start: out, count: Int(count))))
            }
            return endedCleanly() && lists.count == announced(data, ["-----BEGIN X509 CRL-"]) ? lists : nil
        }
    }

    private static let certificateLabels = [
        "-----BEGIN CERTIFICATE-", "-----BEGIN X509 CERTIFICATE-", "-----BEGIN TRUSTED CERTIFICATE-",
    ]

    /// The number of blocks with one of the labels. OpenSSL skips empty blocks and some truncated ones.
    private static func announced(_ data: Data, _ labels: [String]) -> Int {
        let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
        return data.split(separator: UInt8(ascii: "\n")).count { line in
            let text = line.starts(with: byteOrderMark) ? line.dropFirst(3) : line
            return labels.contains { text.starts(with: $0.utf8) }
        }
    }

    /// The SubjectPublicKeyInfo of a public or private key.
    static func publicKeyInfo(_ data: Data) -> Data? {
        OpenSSLErrorQueue.clear()
        defer { OpenSSLErrorQueue.clear() }
        let key =
            withBIO(data) { PEM_read_bio_PUBKEY($0, nil, refusePassphrase, nil) }
            ?? withBIO(data) { PEM_read_bio_PrivateKey($0, nil, refusePassphrase, nil) }
        guard let key else { return nil }
        defer { EVP_PKEY_free(key) }
        return encode(key)
    }

    /// The SubjectPublicKeyInfo of a public or private key in DER. Trailing bytes are an error.
    static func publicKeyInfo(der: Data) -> Data? {
        OpenSSLErrorQueue.clear()
        defer { OpenSSLErrorQueue.clear() }
        let key = der.withUnsafeBytes { bytes -> OpaquePointer? in
            guard let base = bytes.bindMemory(to: UInt8.self).baseAddress else { return nil }
            for read in [d2i_PUBKEY, d2i_AutoPrivateKey] {
                var position: UnsafePointer<UInt8>? = base
                guard let key = read(nil, &position, bytes.count) else { continue }
                if position == base + bytes.count { return key }
                EVP_PKEY_free(key)
            }
            return nil
        }
        guard let key else { return nil }
        defer { EVP_PKEY_free(key) }
        return encode(key)
    }

    private static func encode(_ key: OpaquePointer) -> Data? {
        var out: UnsafeMutablePointer<UInt8>?
        let count = i2d_PUBKEY(key, &out)
        guard count > 0, let out else { return nil }
        defer { CRYPTO_free(out, #file, #line) }
        return Data(UnsafeBufferPointer(start: out, count: Int(count)))
    }

    private static func withBIO<Result>(_ data: Data, _ body: (OpaquePointer) -> Result?) -> Result? {
        data.withUnsafeBytes { bytes in
            guard let count = Int32(exactly: bytes.count), let bio = BIO_new_mem_buf(bytes.baseAddress, count) else {
                return nil
            }
            defer { BIO_free(bio) }
            return body(bio)
        }
    }

    /// "No start line" means the end of the text; any other error is a block that could not be read.
    private static func endedCleanly() -> Bool {
        let code = ERR_peek_last_error()
        OpenSSLErrorQueue.clear()
        return code == 0
            || (linnet_ERR_GET_LIB(code) == ERR_LIB_PEM && linnet_ERR_GET_REASON(code) == PEM_R_NO_START_LINE)
    }
}
