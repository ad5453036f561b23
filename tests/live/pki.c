/* Certificates for trials: files and their modes, what is kept, what openssl thinks of the chain,
 * what is revoked, and what live_pki_check refuses. */
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../support/testing.h"
#include "../../src/live/pki/pki.h"
#include "../support/broker.h"
#include "../support/process.h"
#include "../support/temp.h"

#define TEXT_BYTES 4096u

static const char *const names[] = {"north", "coordinator", "broker"};
static char base[TEMP_PATH_BYTES];
static char directory[TEMP_PATH_BYTES];
static struct tacit_error error;
static bool is_possible;

static int set_up(void **state)
{
    temp_directory_make(base);
    temp_path(directory, base, "pki");
    error.text[0] = '\0';
    return 0;
}

static int tear_down(void **state)
{
    temp_directory_remove(base);
    return 0;
}

static struct live_pki_config good(void)
{
    return (struct live_pki_config){
        .directory = directory, .names = names, .name_count = 3, .days = 30};
}

static void make(const struct live_pki_config *config)
{
    if (live_pki_make(config, &error) != TACIT_OK)
        fail_msg("%s", error.text);
}

/* What openssl is to look at. */
static struct live_pki_config made(void)
{
    struct live_pki_config const config = good();
    if (!is_possible)
        skip();
    make(&config);
    return config;
}

static const char *file_of(const char *name)
{
    static char paths[4][TEMP_PATH_BYTES];
    static size_t next;
    char *const path = paths[next++ % 4];
    temp_path(path, directory, name);
    return path;
}

static void read_text(const char *name, char text[TEXT_BYTES])
{
    FILE *const file = fopen(file_of(name), "r");
    assert_non_null(file);
    text[fread(text, 1, TEXT_BYTES - 1, file)] = '\0';
    assert_int_equal(fclose(file), 0);
}

static mode_t mode_of(const char *path)
{
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    return status.st_mode & 07777;
}

/* arguments[0] is filled in. Returns openssl's exit code and its words, both streams. */
static int openssl(const char **arguments, char words[TEXT_BYTES])
{
    arguments[0] = broker_program("openssl");
    struct process_plan const plan = {.arguments = arguments};
    struct process_result result = process_run(&plan);
    int const code = result.code;
    (void)snprintf(words, TEXT_BYTES, "%s%s", result.out, result.err);
    return code;
}

static int verify(const char *name, const char *purpose)
{
    char words[TEXT_BYTES];
    const char *arguments[] = {NULL,       "verify", "-x509_strict", "-CAfile", file_of("ca.crt"),
                               "-purpose", purpose,  file_of(name),  NULL};
    return openssl(arguments, words);
}

/* The same, for a broker that reads the list of revoked certificates. */
static int verify_against_list(const char *name)
{
    char words[TEXT_BYTES];
    const char *arguments[] = {NULL,         "verify",   "-CAfile",         file_of("ca.crt"),
                               "-crl_check", "-CRLfile", file_of("ca.crl"), file_of(name),
                               NULL};
    return openssl(arguments, words);
}

TEST_WITH(files_have_their_modes_and_nothing_is_left_over, set_up, tear_down)
{
    static const char *const stems[] = {"ca", "north", "coordinator", "broker"};
    static const char *const scraps[] = {".cnf.new", ".csr.new", ".crt.new", ".key.new"};
    char name[64];
    (void)made();
    assert_int_equal(mode_of(directory), 0700);
    for (size_t i = 0; i < 4; i++) {
        (void)snprintf(name, sizeof name, "%s.key", stems[i]);
        assert_int_equal(mode_of(file_of(name)), 0600);
        (void)snprintf(name, sizeof name, "%s.crt", stems[i]);
        assert_int_equal(mode_of(file_of(name)) & 0600, 0600);
        for (size_t k = 0; k < 4; k++) {
            (void)snprintf(name, sizeof name, "%s%s", stems[i], scraps[k]);
            assert_int_not_equal(access(file_of(name), F_OK), 0);
        }
    }
}

TEST_WITH(chain_verifies_for_its_purpose_and_no_other, set_up, tear_down)
{
    (void)made();
    assert_int_equal(verify("north.crt", "sslclient"), 0);
    assert_int_equal(verify("coordinator.crt", "sslclient"), 0);
    assert_int_equal(verify("broker.crt", "sslserver"), 0);
    assert_int_not_equal(verify("north.crt", "sslserver"), 0);
    assert_int_not_equal(verify("broker.crt", "sslclient"), 0);
}

TEST_WITH(certificates_say_who_where_and_how, set_up, tear_down)
{
    static const char *const hosts[] = {"broker.trial.example", "192.0.2.7", "2001:db8::7"};
    char words[TEXT_BYTES];
    if (!is_possible)
        skip();
    struct live_pki_config config = good();
    config.broker_hosts = hosts;
    config.broker_host_count = 3;
    make(&config);
    const char *broker[] = {NULL, "x509", "-noout", "-text", "-in", file_of("broker.crt"), NULL};
    assert_int_equal(openssl(broker, words), 0);
    assert_non_null(strstr(words, "DNS:localhost, IP Address:127.0.0.1, DNS:broker.trial.example, "
                                  "IP Address:192.0.2.7, IP Address:2001:DB8:0:0:0:0:0:7"));
    const char *north[] = {NULL, "x509", "-noout", "-text", "-in", file_of("north.crt"), NULL};
    assert_int_equal(openssl(north, words), 0);
    assert_non_null(strstr(words, "Subject: CN = north"));
    assert_non_null(strstr(words, "NIST CURVE: P-256"));
    assert_non_null(strstr(words, "ecdsa-with-SHA256"));
    assert_null(strstr(words, "DNS:"));
}

TEST_WITH(second_run_keeps_everything_and_adds_sites_under_the_same_ca, set_up, tear_down)
{
    static const char *const more[] = {"north", "south"};
    static const char *const kept[] = {"ca.key", "ca.crt", "north.key", "north.crt"};
    char before[4][TEXT_BYTES];
    char after[TEXT_BYTES];
    struct live_pki_config config = made();
    for (size_t i = 0; i < 4; i++)
        read_text(kept[i], before[i]);
    config.names = more;
    config.name_count = 2;
    make(&config);
    for (size_t i = 0; i < 4; i++) {
        read_text(kept[i], after);
        assert_string_equal(before[i], after);
    }
    assert_int_equal(verify("south.crt", "sslclient"), 0);
}

TEST_WITH(broken_off_run_is_finished_with_the_key_that_exists, set_up, tear_down)
{
    char before[TEXT_BYTES];
    char after[TEXT_BYTES];
    struct live_pki_config const config = made();
    read_text("north.key", before);
    assert_int_equal(unlink(file_of("north.crt")), 0);
    temp_file_write(directory, "north.crt.new", "half");
    temp_file_write(directory, "north.key.new", "half");
    make(&config);
    read_text("north.key", after);
    assert_string_equal(before, after);
    assert_int_equal(verify("north.crt", "sslclient"), 0);
}

TEST_WITH(certificate_without_its_key_is_an_error, set_up, tear_down)
{
    struct live_pki_config const config = made();
    assert_int_equal(unlink(file_of("ca.key")), 0);
    assert_int_equal(live_pki_make(&config, &error), TACIT_INVALID);
    assert_non_null(strstr(error.text, "ca.key is missing"));
    assert_int_not_equal(access(file_of("ca.key"), F_OK), 0);
}

static void expect_refusal(const struct live_pki_config *config, const char *words)
{
    error.text[0] = '\0';
    assert_int_equal(live_pki_make(config, &error), TACIT_INVALID);
    assert_non_null(strstr(error.text, words));
}

TEST_WITH(bad_wishes_are_refused_before_anything_is_made, set_up, tear_down)
{
    static const char *const bad[] = {"", "a/b", "..", "a b", "ca", "x\n[y]", "\xff", "-/.."};
    static const char *const hosts[] = {"", "a b", "x, DNS:evil", "x\n", "a/b", "$ENV::HOME"};
    struct live_pki_config config = good();
    config.name_count = 1;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        config.names = &bad[i];
        expect_refusal(&config, "is not allowed");
    }
    config = good();
    config.broker_host_count = 1;
    for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++) {
        config.broker_hosts = &hosts[i];
        expect_refusal(&config, "no host name");
    }
    config = good();
    config.days = 0;
    expect_refusal(&config, "1 to 3650 days, not 0");
    config.days = LIVE_PKI_DAYS_MAX + 1;
    expect_refusal(&config, "1 to 3650 days, not 3651");
    assert_int_not_equal(access(directory, F_OK), 0);
}

TEST_WITH(open_directory_is_refused, set_up, tear_down)
{
    struct live_pki_config const config = good();
    assert_int_equal(mkdir(directory, 0700), 0);
    assert_int_equal(chmod(directory, 0755), 0);
    expect_refusal(&config, "chmod 700");
}

static void expect_verdict(enum tacit_status status, const char *certificate, const char *key,
                           const char *name, const char *words)
{
    char ca[TEMP_PATH_BYTES];
    char paths[2][TEMP_PATH_BYTES];
    temp_path(ca, directory, "ca.crt");
    temp_path(paths[0], directory, certificate);
    temp_path(paths[1], directory, key);
    error.text[0] = '\0';
    assert_int_equal(live_pki_check(ca, paths[0], paths[1], name, &error), status);
    assert_non_null(strstr(error.text, words));
}

TEST_WITH(no_program_is_needed, set_up, tear_down)
{
    struct live_pki_config const config = good();
    char path[TEXT_BYTES];
    const char *const known = getenv("PATH");
    (void)snprintf(path, sizeof path, "%s", known == NULL ? "" : known);
    assert_int_equal(setenv("PATH", base, 1), 0);
    make(&config);
    assert_int_equal(setenv("PATH", path, 1), 0);
    expect_verdict(TACIT_OK, "north.crt", "north.key", "north", "");
}

TEST_WITH(broken_key_is_named, set_up, tear_down)
{
    struct live_pki_config const config = good();
    assert_int_equal(mkdir(directory, 0700), 0);
    temp_file_write(directory, "ca.key", "no key\n");
    assert_int_equal(chmod(file_of("ca.key"), 0600), 0);
    expect_refusal(&config, "ca.key is no private key");
    assert_int_not_equal(access(file_of("ca.crt"), F_OK), 0);
}

static void revoke_all(const char *const *revoked, size_t count)
{
    if (live_pki_revoke(directory, revoked, count, &error) != TACIT_OK)
        fail_msg("%s", error.text);
}

TEST_WITH(revoked_name_gets_a_new_pair_and_the_old_one_is_worthless, set_up, tear_down)
{
    static const char *const both[] = {"north", "coordinator"};
    char old[TEXT_BYTES];
    struct live_pki_config const config = made();
    assert_int_equal(verify_against_list("north.crt"), 0);
    read_text("north.crt", old);
    revoke_all(both, 2);
    assert_int_not_equal(access(file_of("north.key"), F_OK), 0);
    assert_int_not_equal(access(file_of("north.crt"), F_OK), 0);
    make(&config);
    temp_file_write(directory, "old.crt", old);
    assert_int_not_equal(verify_against_list("old.crt"), 0);
    assert_int_equal(verify_against_list("north.crt"), 0);
    revoke_all(both, 1);
    make(&config);
    assert_int_not_equal(verify_against_list("old.crt"), 0); /* the list only grows */
    assert_int_equal(verify_against_list("coordinator.crt"), 0);
}

/* Who read the list before another one wrote it must not write it after. */
TEST_WITH(revocations_at_once_all_stand_on_the_list, set_up, tear_down)
{
    enum { SITES = 8 };
    static const char *const sites[SITES] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    char old[SITES][TEXT_BYTES];
    char name[16];
    pid_t children[SITES];
    struct live_pki_config config = made();
    config.names = sites;
    config.name_count = SITES;
    make(&config);
    for (size_t i = 0; i < SITES; i++) {
        (void)snprintf(name, sizeof name, "%s.crt", sites[i]);
        read_text(name, old[i]);
    }
    for (size_t i = 0; i < SITES; i++) {
        children[i] = fork();
        if (children[i] == 0)
            _exit(live_pki_revoke(directory, &sites[i], 1, &error) == TACIT_OK ? 0 : 1);
        assert_true(children[i] > 0);
    }
    for (size_t i = 0; i < SITES; i++) {
        int code = 0;
        assert_int_equal(waitpid(children[i], &code, 0), children[i]);
        assert_int_equal(code, 0);
    }
    for (size_t i = 0; i < SITES; i++) {
        temp_file_write(directory, "old.crt", old[i]);
        assert_int_not_equal(verify_against_list("old.crt"), 0);
    }
    assert_int_equal(verify_against_list("north.crt"), 0);
}

TEST_WITH(revocation_that_broke_off_is_finished_by_the_next, set_up, tear_down)
{
    char old[TEXT_BYTES];
    (void)made();
    read_text("north.crt", old);
    revoke_all(names, 1);
    temp_file_write(directory, "north.crt", old); /* on the list already, but still there */
    revoke_all(names, 1);
    assert_int_not_equal(access(file_of("north.crt"), F_OK), 0);
    assert_int_not_equal(access(file_of("ca.crl.new"), F_OK), 0);
}

static void expect_no_revocation(const char *name, const char *words)
{
    const char *const both[] = {"north", name};
    char before[TEXT_BYTES];
    char after[TEXT_BYTES];
    read_text("ca.crl", before);
    error.text[0] = '\0';
    assert_int_equal(live_pki_revoke(directory, both, 2, &error), TACIT_INVALID);
    assert_non_null(strstr(error.text, words));
    read_text("ca.crl", after);
    assert_string_equal(before, after);
    assert_int_equal(access(file_of("north.key"), F_OK), 0);
}

TEST_WITH(what_cannot_be_revoked_revokes_nothing, set_up, tear_down)
{
    char own[TEXT_BYTES];
    struct live_pki_config const config = made();
    expect_no_revocation("south", "cannot read a certificate from");
    expect_no_revocation("ca", "is not allowed");
    expect_no_revocation("../north", "is not allowed");
    expect_no_revocation("broker", "make a new CA");
    read_text("coordinator.crt", own);
    assert_int_equal(unlink(file_of("ca.key")) + unlink(file_of("ca.crt")), 0);
    assert_int_equal(unlink(file_of("coordinator.key")) + unlink(file_of("coordinator.crt")), 0);
    make(&config); /* another CA: neither the old list nor the old certificate is its own */
    temp_file_write(directory, "other.crt", own);
    expect_no_revocation("coordinator", "is no list of this CA");
    assert_int_equal(unlink(file_of("ca.crl")), 0);
    make(&config);
    expect_no_revocation("other", "is not signed by this CA");
    temp_file_write(directory, "ca.crl", "no list\n");
    expect_no_revocation("coordinator", "is no list of this CA");
}

TEST_WITH(check_takes_only_a_matching_private_set, set_up, tear_down)
{
    (void)made();
    temp_file_write(directory, "empty", "");
    assert_int_equal(chmod(file_of("empty"), 0600), 0);
    expect_verdict(TACIT_OK, "north.crt", "north.key", "north", "");
    expect_verdict(TACIT_INVALID, "north.crt", "north.key", "nort", "not made out to nort");
    expect_verdict(TACIT_INVALID, "north.crt", "north.key", "northx", "not made out to northx");
    expect_verdict(TACIT_INVALID, "north.crt", "coordinator.key", "north", "does not belong to");
    expect_verdict(TACIT_INVALID, "north.crt", "missing.key", "north", "cannot read the key");
    expect_verdict(TACIT_INVALID, "north.crt", "empty", "north", "is no private key");
    expect_verdict(TACIT_INVALID, "missing.crt", "north.key", "north", "missing.crt");
    expect_verdict(TACIT_INVALID, "empty", "north.key", "north", "cannot read a certificate");
    assert_int_equal(chmod(file_of("north.key"), 0640), 0);
    expect_verdict(TACIT_INVALID, "north.crt", "north.key", "north", "is open to others");
}

TEST_WITH(check_refuses_an_encrypted_key_without_asking, set_up, tear_down)
{
    char words[TEXT_BYTES];
    (void)made();
    const char *encrypt[] = {NULL,       "pkey",       "-in",  file_of("north.key"),  "-aes128",
                             "-passout", "pass:trial", "-out", file_of("locked.key"), NULL};
    assert_int_equal(openssl(encrypt, words), 0);
    assert_int_equal(chmod(file_of("locked.key"), 0600), 0);
    expect_verdict(TACIT_INVALID, "north.crt", "locked.key", "north", "or an encrypted one");
}

int main(void)
{
    is_possible = broker_program("openssl") != NULL;
    if (!is_possible)
        fprintf(stderr, "skipped: openssl is not installed\n");
    return testing_run(NULL, NULL);
}
