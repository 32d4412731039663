# People's right answers as a mixed model with crossed random effects, in lme4.
#
#     Rscript mixed_model.R [FOLDER]
#
# FOLDER holds an export's trials.csv; without one, it is the folder above this file. Needs R and lme4 alone.
#
#     P(right) = g + (1 - g) / (1 + exp(-eta)),  g = 1 / 16
#     eta      = curve of the corruption at the visual change + person + category + original within category
#
# A curve is the natural cubic spline through its values at KNOTS: these values, log odds beyond guessing, are the fixed
# effects. An area is the mean over visual change from 0 to 1 of P(right), over people and originals like these; its
# interval and those of contrasts leave out what is unknown of the sds of the random effects.

suppressPackageStartupMessages(library(lme4))

CHOICES <- 16
KNOTS <- c(0, 1 / 3, 2 / 3, 1)  # c(0, 1) makes curves linear in the log odds
LEAST <- 5  # answers an original, on average: with fewer, lme4 cannot tell originals' sd and they stay out of the model
ROLES <- c("main", "consistency_first")
DRAWS <- 2000
GRID <- (seq_len(100) - 0.5) / 100

# The link with a guess rate: psyphy's mafc.logit(CHOICES), written out so that nothing else need be installed.
guessing_logit <- function(choices) {
  guess <- 1 / choices
  structure(
    list(
      linkfun = function(mu) qlogis(pmin(pmax((mu - guess) / (1 - guess), 1e-8), 1 - 1e-8)),
      linkinv = function(eta) guess + (1 - guess) * pmin(pmax(plogis(eta), 1e-8), 1 - 1e-8),
      mu.eta = function(eta) (1 - guess) * pmax(dlogis(eta), 1e-8),
      valideta = function(eta) TRUE,
      name = paste0("guessing_logit(", choices, ")")
    ),
    class = "link-glm"
  )
}

# Columns whose coefficients are a curve's values at KNOTS.
curve_columns <- function(visual_change) {
  sapply(seq_along(KNOTS), function(knot) {
    splinefun(KNOTS, as.numeric(seq_along(KNOTS) == knot), method = "natural")(visual_change)
  })
}

read_answers <- function(folder) {
  trials <- read.csv(file.path(folder, "trials.csv"), colClasses = "character", na.strings = "", encoding = "UTF-8")
  used <- trials$accepted == "True" & trials$task == "categorisation" & trials$role %in% ROLES &
    trials$corruption != "none" & !is.na(trials$visual_change)
  trials <- trials[used, ]
  if (nrow(trials) == 0) stop("trials.csv holds no accepted answer to a corrupted picture with a visual change.")
  data.frame(
    right = as.integer(trials$correct == "True"),
    visual_change = as.numeric(trials$visual_change),
    corruption = factor(trials$corruption),
    participant = factor(trials$participant),
    category = factor(trials$category),
    original = factor(trials$original)
  )
}

# P(right) over GRID by corruption, for values at KNOTS in columns: the mean over random effects with this sd.
rates_over_grid <- function(values, sd) {
  eta <- curve_columns(GRID) %*% values
  guess <- 1 / CHOICES
  effects <- sd * qnorm((seq_len(50) - 0.5) / 50)
  guess + (1 - guess) * Reduce(`+`, lapply(effects, function(effect) plogis(eta + effect))) / length(effects)
}

folder <- commandArgs(trailingOnly = TRUE)
if (length(folder) == 0) {
  script <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  folder <- file.path(dirname(script), "..")
}
answers <- read_answers(folder[1])
answers$curve <- curve_columns(answers$visual_change)
several <- nlevels(answers$corruption) > 1
each <- nrow(answers) / nlevels(answers$original)
formula <- reformulate(
  c(
    if (several) "corruption:curve" else "curve",
    "(1 | participant)", if (each < LEAST) "(1 | category)" else "(1 | category / original)"
  ),
  response = "right", intercept = FALSE
)
cat(sprintf(
  "%d answers of %d people to pictures of %d originals, %.1f an original\n", nrow(answers),
  nlevels(answers$participant), nlevels(answers$original), each
))
if (each < LEAST) cat("Too few answers an original to tell the sd of originals: they stay out of the model.\n")
print(formula, showEnv = FALSE)

model <- glmer(
  formula,
  data = answers, family = binomial(link = guessing_logit(CHOICES)),
  control = glmerControl(optimizer = "bobyqa", optCtrl = list(maxfun = 2e5))
)

corruptions <- levels(answers$corruption)
fixed <- matrix(fixef(model), nrow = length(corruptions), dimnames = list(corruptions, sprintf("%.2f", KNOTS)))
errors <- matrix(sqrt(diag(as.matrix(vcov(model)))), nrow = length(corruptions), dimnames = dimnames(fixed))
cat("\nFixed effects: log odds beyond guessing, by corruption and visual change\n")
print(round(fixed, 3))
cat("Their standard errors\n")
print(round(errors, 3))

cat("\nSds of the random effects, log odds\n")
spread <- as.data.frame(VarCorr(model))
print(data.frame(effect = spread$grp, sd = round(spread$sdcor, 3)), row.names = FALSE)

# Draws of the fixed effects: what is unknown of areas, and of their differences.
set.seed(1)
total <- sqrt(sum(spread$vcov))
root <- chol(as.matrix(vcov(model)))
draws <- replicate(DRAWS, fixef(model) + drop(rnorm(length(fixef(model))) %*% root))
areas_of <- function(values) {
  colMeans(rates_over_grid(t(matrix(values, nrow = length(corruptions))), total))
}
areas <- setNames(areas_of(fixef(model)), corruptions)
drawn <- matrix(apply(draws, 2, areas_of), nrow = length(corruptions), dimnames = list(corruptions, NULL))
cat("\nAreas\n")
limits <- function(values) {
  setNames(quantile(values, c(0.025, 0.975), names = FALSE), c("lower", "upper"))
}
print(round(cbind(area = areas, t(apply(drawn, 1, limits))), 4))

if (several) {
  # Mean over visual change of a curve's log odds: linear in the fixed effects.
  weights <- colMeans(curve_columns(GRID))
  cat("\nContrasts of corruptions: difference of areas (p by Holm), and mean difference in log odds\n")
  pairs <- combn(seq_along(corruptions), 2)
  contrasts <- t(apply(pairs, 2, function(pair) {
    sides <- rep(0, length(corruptions))
    sides[pair] <- c(1, -1)
    direction <- as.vector(outer(sides, weights))
    apart <- drawn[pair[1], ] - drawn[pair[2], ]
    difference <- areas[[pair[1]]] - areas[[pair[2]]]
    c(
      area = difference, limits(apart), p = 2 * pnorm(-abs(difference / sd(apart))),
      log_odds = sum(direction * fixef(model)), se = sqrt(drop(direction %*% as.matrix(vcov(model)) %*% direction))
    )
  }))
  contrasts[, "p"] <- p.adjust(contrasts[, "p"], "holm")
  rownames(contrasts) <- paste(corruptions[pairs[1, ]], "-", corruptions[pairs[2, ]])
  print(round(contrasts, 4))
}
