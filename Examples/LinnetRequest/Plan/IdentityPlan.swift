import ExampleSupport
import FoundationEssentials
import Linnet

/// The client certificate, which only the host of the URL gets.
enum IdentityPlan {
    static func policy(_ arguments: ConnectionArguments, url: URL) throws -> ClientIdentityPolicy {
        guard let file = arguments.certificate else {
            guard arguments.key == nil else { throw UsageError("--key needs --cert.") }
            return .none
        }
        guard url.scheme?.lowercased() == "https", let host = Origin(url.absoluteString)?.host else {
            throw UsageError("--cert needs an https URL, but the URL is \(url.absoluteString).")
        }
        do {
            return try ClientIdentityPolicy(rules: [.init(host, try identity(file, key: arguments.key))])
        } catch let error as SecurityError {
            throw UsageError("--cert: " + error.message)
        }
    }

    private static func identity(_ file: String, key: String?) throws -> ClientIdentity {
        let isPKCS12 = [".p12", ".pfx"].contains { file.lowercased().hasSuffix($0) }
        return isPKCS12 ? try .pkcs12(file: file) : try .files(certificates: file, privateKey: key)
    }
}
