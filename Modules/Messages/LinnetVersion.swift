/// The version of this package.
///
/// It is stated here only: User-Agent fields and the `--version` of the tools derive from it, and `.ci/check-version`
/// compares the changelog with it.
package enum LinnetVersion {
    /// The version by Semantic Versioning 2.0.0, such as `1.2.3`.
    package static let current = "0.1.0"
}
